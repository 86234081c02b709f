/**
 * The words around secrets in about forty languages, as patterns over folded text: names of codes, of passwords
 * and keys, and of other numbers, actions, and what stands between a name and its value. The lists are in
 * `words.json`, without a meaning of order; a dash in them matches anything that may be between parts of a
 * word, and a word also counts inside a longer one, as in Sicherheitscode.
 */
import { alternatives } from './folded-text.ts'
import words from './words.json' with { type: 'json' }

const listOf = (name: keyof typeof words) => alternatives(words[name].join(' '))
const letters = '[\\p{Script=Latin}\\p{Script=Cyrillic}]'
const begun = `(?<!${letters}|\\p{N})`
const ended = `(?!${letters})`

/** Any Chinese word for a code, but not for a number, a scan, a size or a bar code. */
const chineseCode = '(?<=\\p{Script=Han})(?<![号號扫掃尺数數编編密代乱源条條维維区區邮])[码碼]'

/** The word for a key at the end of a longer one. */
const compound = `(?<=${letters}{3})(?:schlussel|sleutel|nyckel|nøkkel|nøgle|avain|kulcs)(?!${letters})`

/** Names of codes. */
export const codeNamePattern = new RegExp(
  `${listOf('codeNames')}|${chineseCode}|${begun}(?:${listOf('shortCodeNames')})${ended}`,
  'gu',
)
/** Actions taken with codes, or with a link to sign in. */
export const actionPattern = new RegExp(listOf('actions'), 'gu')
/** Names of numbers that are not secret, including codes such as promo codes. */
export const nonSecretNamePattern = new RegExp(
  `${begun}(?:${alternatives(words.otherNames.join(' '), ended)})`,
  'gu',
)
/** Words that make a link harmless, whatever it contains. */
export const unsubscribeWords = new RegExp(listOf('unsubscribing'), 'gu')
/** Names of passwords and keys. */
export const secretNamePattern = new RegExp(
  `${listOf('secretNames')}|${begun}(?:${listOf('shortSecretNames')}|${listOf('weakSecretNames')})${ended}|${compound}`,
  'gu',
)
/** Names of passwords and keys that mean nothing else. */
export const passwordPattern = new RegExp(listOf('secretNames'), 'gu')
/** Matches a name whose value is a secret only if it looks like one. */
export const weakName = new RegExp(`^(?:${listOf('weakSecretNames')})$`, 'u')
/** The promises of an advertisement to everybody, beside its code. */
export const promising = new RegExp(`\\d ?%|% ?\\d|(?<!\\p{L})(?:${listOf('promising')})`, 'u')

/** A number sign, or the word for number, right before a number that is not called a code. */
export const numberLabel =
  /(?:#|\bn[°o.]|\bnr|\bid|\bnum|number|nummer|numero|numer|номера?|numara(?:si)?|号码?|番号?|번호|numero|cislo|szam)[\s.:°o]*$/u

/**
 * The text that may be between the name of a code and the code: the end of the name, as in código de
 * acceso or код безопасности, followed by nothing or by words that end in pointing at the code.
 */
export const codeGap =
  /^\p{L}{0,14}(?:[\s']+(?:d[eio']|del|da|for|van|zur?m?|fur|pour|para|per|voor|en|in)[\s']+\p{L}{2,20}|[\s']+\p{L}{5,20})?[\s:"'«„“”「【(*_>-]*$|(?::|\b(?:is|are|ist|lautet|lauten|est|sera|es|e|sao|to|jest|luidt)|это|は|が|是|为|為)[\s"'«„“”「【(*_>-]*$/u

/** The text that may be between the name of a number and the number. */
export const labelGap =
  /^\p{L}{0,14}[\s:#.()°-]*(?:n[ro°.]|id|number|nummer|numero|numer|номера?|numarasi|号码?|番号)?[\s:#.°]*(?:is|ist|est|es|e|lautet|to|this|unter|numarali|は|是|为)?[\s:#.(«"「-]*$/u

/** Verbs that say what a secret is, but are other words elsewhere. Each counts only after its names. */
export const verbsOfNames: readonly [verb: RegExp, name: RegExp][] = [
  [/^to$/u, /^(?:kod|hasl)/],
  [/^ar$/u, /^(?:kod|losenord|engangs|nyckel|pin)/],
  [/^er$/u, /^(?:kod|adgangskod|passord|engangs|pin)/],
  [/^on$/u, /koodi|^salasana|^tunnus/],
  [/^je$/u, /^(?:kod|hesl|lozink|zapork|geslo|sifr|pin)/],
  [/^este$/u, /^(?:cod|parol|pin)/],
  [/^la$/u, /^(?:ma|mat)/],
  [/^е$/u, /^(?:код|парол)/],
]

/** The text that announces a secret: words that belong to the name, then a colon or an equals sign. */
export const announcement = /^(?:[^\n.!?:=]|[.!?](?=\S)){0,100}(?:(?<!\d):(?!\/\/)|:(?=\s)|=)/

/** Verbs between a name and its secret. Some are verbs only with an accent, or only after certain names. */
export const saying = new RegExp(
  `(?:^|[\\s"'”»])(?:is|are|will be|reads|(?:set|reset|changed) to|ist|lautet|lauten|sind|est|sont|es|son|e|sono|sao|zijn|luidt|to|jest|brzmi|это|ar|er|on|je|este|la|sera|sara|wordt|bedzie|будет|adalah|ialah|είναι|це|є|е)(?=[\\s:])|是|为|為|は|が|คือ|(?<![\\p{Script=Arabic}])ه[وي](?= )|ה[וי]א(?= )|[은는](?= )`,
  'gu',
)

/** A secret that is to be used or entered, right after its name or without one. */
export const usedFor =
  /(?<![\p{L}\p{N}])(?:use|enter|type|paste|redeem|nutze|gib|verwende|(?:verwenden|nutzen|geben) sie|utilice|ingrese|introduzca|anvand|brug|bruk|pouzijte|zadejte|folosi\p{L}{1,5}|gunakan|masukkan|nhap|utilisez|saisissez|entrez|usa|introduce|escribe|ingresa|inserisci|digita|digite|use|insira|voer|gebruik|wpisz|uzyj|введите|используйте) (?:(?:the|this|den|le|il|el|o|de) )?(?:(?:code|codigo|codice|kod|код|pin|otp) )?(\d{2,4}(?: \d{2,4}){1,3}|[^\s,;]{4,64}?)(?: (?:to|for|or|in|into|at|on|when|um|ein|an|auf|bei|oder|pour|ou|sur|dans|para|en|per|su|em|no|na|om|of|op|w|aby|lub|чтобы|или|на|в)(?!\p{L})|[.,;]?\s{0,3}(?:$|\n))/gu

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
