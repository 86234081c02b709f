/**
 * Words around secrets of any form, in many languages and folded: names of passwords and keys, words
 * between such a name and the secret, and words in that place that are no secret.
 */

import { alternatives } from './folded-text.ts'
import * as further from './further-words.ts'

/** Names of passwords and keys. Any value given for one is sealed. */
const ownNames = `password passwort kennwort passcode passphrase passwd mot-de-passe contrasena parola
  parola-chiave senha palavra-passe wachtwoord haslo haslem hasla пароль пароля sifre parolanız 密码 密碼
  パスワード api-key apikey api-schlussel cle-api cle-d-api clave-api clave-de-api chiave-api chave-de-api
  api-sleutel klucz-api api-anahtar secret-key access-key application-key master-key account-key service-key enrolment-key enrollment-key private-key recovery-key license-key licence-key
  activation-key encryption-key signing-key client-secret webhook-secret auth-token access-token api-token
  bearer-token refresh-token personal-token reset-token recovery-phrase seed-phrase secret-phrase
  backup-code recovery-code backup-key backup-phrase backup-words
  recovery-words seed-words secret-words mnemonic-phrase security-phrase freischaltcode zugangscode aktivierungscode`

/** Names of passwords that must stand alone as a word. */
const shortNames = 'pass pwd pw mdp'

/** Words that sometimes name a secret. Their value must look like one. */
const ownWeakNames =
  'key token secret schlussel geheimnis clave llave chiave chave sleutel klucz ключ токен anahtar'

const names = `${ownNames} ${further.secretNames}`
const weakNames = `${ownWeakNames} ${further.weakNames}`

const letters = '[\\p{Script=Latin}\\p{Script=Cyrillic}]'
const alone = (list: string) => `(?<!${letters}|\\p{N})(?:${alternatives(list)})(?!${letters})`

/** The word for a key at the end of a longer one. */
const compound = `(?<=${letters}{3})(?:schlussel|sleutel|nyckel|nøkkel|nøgle|avain|kulcs)(?!${letters})`

/** Names of passwords and keys, as a pattern over folded text. */
export const secretNamePattern = new RegExp(
  `${alternatives(names)}|${alone(shortNames)}|${alone(weakNames)}|${compound}`,
  'gu',
)

/** Matches a name whose value is a secret only if it looks like one. */
export const weakName = new RegExp(`^(?:${alternatives(weakNames)})$`, 'u')

/** Names of passwords and keys that mean nothing else, as a pattern over folded text. */
export const passwordPattern = new RegExp(alternatives(names), 'gu')

/** Matches the name of a secret of several words. */
export const phraseName = /phrase$/

/** The text that announces a secret: words that belong to the name, then a colon or an equals sign. */
export const announcement = /^(?:[^\n.!?:=]|[.!?](?=\S)){0,100}(?:(?<!\d):(?!\/\/)|:(?=\s)|=)/

/** Verbs between a name and its secret. Some are verbs only with an accent, or only after certain names. */
export const saying = new RegExp(
  `(?:^|[\\s"'”»])(?:is|are|will be|reads|(?:set|reset|changed) to|ist|lautet|lauten|sind|est|sont|es|son|e|sono|sao|zijn|luidt|to|jest|brzmi|это|${further.furtherVerbs})(?=[\\s:])|是|为|為|は|が|${further.furtherMarks}`,
  'gu',
)

/** A secret that is to be used or entered, right after its name or without one. */
export const usedFor =
  /(?<![\p{L}\p{N}])(?:use|enter|type|paste|redeem|nutze|gib|verwende|(?:verwenden|nutzen|geben) sie|utilice|ingrese|introduzca|anvand|brug|bruk|pouzijte|zadejte|folosi\p{L}{1,5}|gunakan|masukkan|nhap|utilisez|saisissez|entrez|usa|introduce|escribe|ingresa|inserisci|digita|digite|use|insira|voer|gebruik|wpisz|uzyj|введите|используйте) (?:(?:the|this|den|le|il|el|o|de) )?(?:(?:code|codigo|codice|kod|код|pin|otp) )?(\d{2,4}(?: \d{2,4}){1,3}|[^\s,;]{4,64}?)(?: (?:to|for|or|in|into|at|on|when|um|ein|an|auf|bei|oder|pour|ou|sur|dans|para|en|per|su|em|no|na|om|of|op|w|aby|lub|чтобы|или|на|в)(?!\p{L})|[.,;]?\s{0,3}(?:$|\n))/gu

/** The text between a name and the secret right after it: the end of the name, and its purpose. */
export const directGap =
  /^\p{L}{0,14}(?:[ ']{1,2}(?:d[eio']|del|da|for|van|zur?m?|fur|pour|para|per|voor|en|in)[ ']{1,2}\p{L}{2,20})?[ \t"'«»„“”(*_>`-]{1,6}(?=\S)/u

/** Words before a name which say that its secret is to be used, or a value that comes before its own. A lower-case word after it may be one. */
export const usedBefore =
  /(?<!\p{L})(?:here(?:'s| is)|hier ist|voici|aqui (?:esta|tienes)|ecco|hier is|oto|вот|iste|use|using|enter|type|paste|with|nutze|gib|verwende|mit de[mnr]|saisissez|utilisez|avec|usa|introduce|introduzca|escribe|ingresa|ingrese|con|inserisci|digite|insira|com|voer|gebruik|met|wpisz|uzyj|введите|используйте)(?!\p{L})[^.,!?\n]{0,40}$|(?:[:=] \S{1,40}|(?<= )(?:is|ist|est|es|e) [^.,!?\n]{1,40})(?:,| and| und| et| y| e) (?:(?:the|das|le|la|el) )?$/u

/** Keys that are recognized by their prefix, whatever is around them. */
export const knownKey =
  /(?<![\p{L}\p{N}_-])(?:(?:sk|rk|pk)[_-](?:live|test|proj|ant)[_-]|whsec_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|sg\.|aiza|ya29\.|npm_|hf_|glsa_|dapi|lin_api_|figd_|xkeysib-|atatt3|akia|asia|pypi-|dop_v1_|shp(?:at|ss)_|eyj)[^\s<>"']{12}/gu

/**
 * Private keys in PEM (RFC 7468 section 10), with the headers of old ones (RFC 1421 section 4.4) and of
 * OpenPGP (RFC 9580 section 6.2.2), and the key of a Wi-Fi network as in a QR code.
 */
export const knownBlock =
  /-----begin [a-z0-9 ]{0,30}private key(?: block)?-----\s{1,4}(?:[a-z-]{1,20}:[^\n]{0,100}\n){0,8}\s{0,4}((?:[a-z0-9+/=]{1,80}\s{1,2}){1,2000})|wifi:(?:[a-z]:[^;\n]{0,64};){0,4}p:([^;\n]{1,64});/gu

/** Words at the end of a name which show that its value is an expiry time, not a secret. */
export const tellsTime =
  /expir|valid|until|gultig|ablauf|caduc|venc|scad|validade|geldig|wazn|действ|истек|gecerli|date|time|datum|uhr|有效|期限/u

/** Returns true for the number of an issue, such as PLAT-2210, which its label calls a key. */
export function isIssueKey(label: string, written: string): boolean {
  return weakName.test(label) && /^\p{Lu}{2,10}-\d{1,6}$/u.test(written)
}
