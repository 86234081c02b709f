/**
 * Words around secrets of any form, in many languages and folded: what names a password or a key,
 * what stands between such a name and the secret, and what can stand there and is none.
 */

import { alternatives } from './folded-text.ts'
import * as further from './further-words.ts'

/** Names of passwords and keys; whatever is said to be one is sealed. */
const ownNames = `password passwort kennwort passcode passphrase passwd mot-de-passe contrasena parola
  parola-chiave senha palavra-passe wachtwoord haslo haslem hasla пароль пароля sifre parolanız 密码 密碼
  パスワード api-key apikey api-schlussel cle-api cle-d-api clave-api clave-de-api chiave-api chave-de-api
  api-sleutel klucz-api api-anahtar secret-key access-key private-key recovery-key license-key licence-key
  activation-key encryption-key signing-key client-secret webhook-secret auth-token access-token api-token
  bearer-token refresh-token personal-token reset-token recovery-phrase seed-phrase secret-phrase
  backup-code recovery-code backup-key backup-phrase backup-words
  recovery-words seed-words secret-words mnemonic-phrase security-phrase freischaltcode zugangscode aktivierungscode`

/** The same, where the word must stand alone. */
const shortNames = 'pass pwd pw mdp'

/** Words that name a secret at times: what is said to be one has to look like one. */
const ownWeakNames =
  'key token secret schlussel geheimnis clave llave chiave chave sleutel klucz ключ токен anahtar'

const names = `${ownNames} ${further.secretNames}`
const weakNames = `${ownWeakNames} ${further.weakNames}`

const letters = '[\\p{Script=Latin}\\p{Script=Cyrillic}]'
const alone = (list: string) => `(?<!${letters}|\\p{N})(?:${alternatives(list)})(?!${letters})`

/** Names of passwords and keys, as a pattern over folded text. */
export const secretNamePattern = new RegExp(
  `${alternatives(names)}|${alone(shortNames)}|${alone(weakNames)}`,
  'gu',
)

/** A name that is one of a secret only where that looks like one. */
export const weakName = new RegExp(`^(?:${alternatives(weakNames)})$`, 'u')

/** Names of passwords and keys that are nothing else, as a pattern over folded text. */
export const passwordPattern = new RegExp(alternatives(names), 'gu')

/** A name of a secret of several words. */
export const phraseName = /phrase$/

/** What says that the secret follows, after the name and words that belong to it. */
export const announcement = /^(?:[^\n.!?:=]|[.!?](?=\S)){0,100}(?:(?<!\d):(?!\/\/)|:(?=\s)|=)/

/** Verbs between a name and its secret; some are verbs only with an accent or after the names of a language. */
export const saying = new RegExp(
  `(?:^|[\\s"'”»])(?:is|are|reads|(?:set|reset|changed) to|ist|lautet|lauten|sind|est|sont|es|son|e|sono|sao|zijn|luidt|to|jest|brzmi|это|${further.furtherVerbs})(?=[\\s:])|是|为|為|は|が|${further.furtherMarks}`,
  'gu',
)

/** What is done with a secret, named right before it or not at all. */
export const usedFor =
  /(?<![\p{L}\p{N}])(?:use|enter|type|paste|nutze|gib|verwende|(?:verwenden|nutzen|geben) sie|utilice|ingrese|introduzca|anvand|brug|bruk|pouzijte|zadejte|folosi\p{L}{1,5}|gunakan|masukkan|nhap|utilisez|saisissez|entrez|usa|introduce|escribe|ingresa|inserisci|digita|digite|use|insira|voer|gebruik|wpisz|uzyj|введите|используйте) (?:(?:the|this|den|le|il|el|o|de) )?(?:(?:code|codigo|codice|kod|код|pin|otp) )?([^\s,;]{4,64}?)(?: (?:to|or|in|into|at|on|when|um|ein|an|auf|bei|oder|pour|ou|sur|dans|para|en|per|su|em|no|na|om|of|op|w|aby|lub|чтобы|или|на|в)(?!\p{L})|[.,;]?\s{0,3}(?:$|\n))/gu

/** What may stand between a name and the secret right behind it: the end of the name, and what it is for. */
export const directGap =
  /^\p{L}{0,14}(?:[ ']{1,2}(?:d[eio']|del|da|for|van|zur?m?|fur|pour|para|per|voor)[ ']{1,2}\p{L}{2,20})?[ \t"'«»„“”(*_>`-]{1,6}(?=\S)/u

/** What tells, before a name, that its secret is to be used: a small word right behind it may be the secret. */
export const usedBefore =
  /(?:here(?:'s| is)|hier ist|voici|aqui (?:esta|tienes)|ecco|hier is|oto|вот|iste|use|using|enter|type|paste|with|nutze|gib|verwende|mit de[mnr]|saisissez|utilisez|avec|usa|introduce|introduzca|escribe|ingresa|ingrese|con|inserisci|digite|insira|com|voer|gebruik|met|wpisz|uzyj|введите|используйте)[^.,!?\n]{0,40}$/u

/** Keys that show by their beginning what they are, whatever stands around them. */
export const knownKey =
  /(?<![\p{L}\p{N}_-])(?:(?:sk|rk|pk)[_-](?:live|test|proj|ant)[_-]|whsec_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|sg\.|aiza|ya29\.|npm_|hf_|akia|asia|pypi-|dop_v1_|shp(?:at|ss)_|eyj)[^\s<>"']{12}/gu

/**
 * Private keys in their lines (RFC 7468 section 10), with what stands above them of old ones (RFC 1421
 * section 4.4) and of OpenPGP's (RFC 9580 section 6.2.2), and the key of a network as codes to scan have it.
 */
export const knownBlock =
  /-----begin [a-z0-9 ]{0,30}private key(?: block)?-----\s{1,4}(?:[a-z-]{1,20}:[^\n]{0,100}\n){0,8}\s{0,4}((?:[a-z0-9+/=]{1,80}\s{1,2}){1,2000})|wifi:(?:[a-z]:[^;\n]{0,64};){0,4}p:([^;\n]{1,64});/gu

/** Words at the end of those that belong to a name which say when it ends, not what it is. */
export const tellsTime =
  /expir|valid|until|gultig|ablauf|caduc|venc|scad|validade|geldig|wazn|действ|истек|gecerli|date|time|datum|uhr|有效|期限/u
