/**
 * Whether a run of signs looks as if drawn at random, as secrets are, or is a word or number of a text; and
 * whether several words are a secret together. Those of a sentence are told from those of a phrase by the
 * small words that every sentence has.
 */
import type { Span } from './spans.ts'

/** Words that follow the name of a secret and are none, without accents. */
const noSecrets: ReadonlySet<string> = new Set(
  `valid invalid required needed expired expiring changed updated reset sent used reused unused
    case not now no yes the a an about below above here there this that these those what when where which
    only good bad being safe secure strong weak correct incorrect wrong fine ok okay great easy hard simple clean free worth due done gone back live long short old new okay nice broken lost stolen compromised leaked cancelled canceled rejected accepted approved verified confirmed active listed printed shown sealed shared public open closed locked unlocked ready set protected stored saved
    encrypted hidden known unknown missing empty same different unique important enabled disabled
    link links button form email e-mail mail number numbers address browser device phone option options app
    lien liens bouton enlace enlaces boton collegamento pulsante botao knop odnosnik przycisk ссылка ссылку ссылке
    baglanti baglantiyi dugme unico unica unique einzige enige
    ebay iphone ipad icloud
    provided displayed received generated attached included mentioned emailed texted requested
    optional confidential secret private personal temporary temporarily case-sensitive available active
    one-time single-use two-factor two-step 2-step
    inactive on in at to for from with by of or and if as so too also still just your you we it its
    never always again account konto compte cuenta conta rekening review reviews base change changes manager managers policy policies hygiene protection generator owner quality samples snippet snippets source freeze field fields pad page screen sent twice once entered requested request fuente abierto sorgente quelle source and/or n/a none active. see click visit contact follow enter use please
    gultig ungultig erforderlich notig abgelaufen geandert nicht nur der die das ein eine unten oben hier
    sicher falsch richtig bereit aktiv bei fur von und oder wie zu im am
    valable valide invalide requis expire modifie pas le la les un une ici ci-dessous dessous votre
    incorrect correct pret de du des pour et ou en dans
    valido valida invalido requerido caducado cambiada no el los una aqui abajo su tu segura incorrecta
    para con por y o en
    valido scaduto richiesto cambiata non il lo qui sotto sicura errata per con di e
    expirado alterada nao os as aqui abaixo sua seu segura com por
    geldig ongeldig verlopen gewijzigd niet het een hier onder veilig voor van en of
    wazne wazny niewazny wygasl zmienione nie tutaj ponizej dla i lub
    действителен действителна недействителен истек изменен не здесь ниже для и или
    dogrulama onay guvenlik aktivasyon etkinlestirme giris erisim kullanimlik sifre indirim bu su bir
    gecerli gecersiz degisti burada asagida icin ve veya`.split(/\s+/),
)

const mailbox = /^[^\s@]+@[^\s@]+\.\p{L}{2,}$/u

/** What is announced as a secret is one, unless it is a word that says something about it. */
export function isSecret(run: string): boolean {
  if (run.length < 3 || !/[\p{L}\p{N}]/u.test(run) || mailbox.test(bareOf(run))) return false
  return !tellsOfSecrets(bareOf(run))
}

/** Whether a word is one that says something about a secret, or joins others. */
export function tellsOfSecrets(word: string): boolean {
  return noSecrets.has(withoutAccents(word))
}

/** What stands alone is one, unless it is a word that begins with a capital, as names and titles do. */
export function isDrawn(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 4) return false
  return looksDrawn(run) || /^\p{Ll}\p{L}+$/u.test(bare)
}

/** What is in the middle of a text is one by its signs: digits, signs among letters, capitals. */
export function looksDrawn(run: string): boolean {
  const bare = bareOf(run)
  // Most words of a text: small letters, or such as know no capitals.
  if (/^[\p{Ll}\p{Lo}\p{M}]*$/u.test(bare)) return false
  if (!isSecret(run) || bare.length < 4 || isNumberOfText(bare)) return false
  if (/\p{N}/u.test(bare) || /^\p{Lu}+(?:-\p{Lu}+)?$/u.test(bare)) return true
  if (bare.split('-').length > 3) return true
  // Not its/theirs, it's, e.g. or well-known.
  if (/[\p{L}][^\p{L}\p{M}\p{N}'’./,-]+\p{L}/u.test(bare)) return true
  const rises = bare.match(/\p{Ll}\p{Lu}/gu)?.length ?? 0
  return rises > 1 || (rises === 1 && bare.length < 6) || hasMixedCase(bare)
}

/** Whether capitals stand among small letters as in no name that is written together, as GitHub or MySQL. */
function hasMixedCase(bare: string): boolean {
  if (!/^[A-Za-z]{6,}$/.test(bare) || /^[A-Z]?[a-z]+$/.test(bare)) return false
  const parts = bare.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  const isWord = (part: string) =>
    /^[A-Z]?[a-z]+$/.test(part) &&
    (/[aeiouy][a-z]/i.test(part.slice(/^[A-Z]/.test(part) ? 1 : 0)) ||
      /^.{1,4}[aeiouy]$|^[a-z]$/.test(part))
  return !parts.every(
    (part, at) => isWord(part) || (/^[A-Z]+$/.test(part) && (at === 0 || at === parts.length - 1)),
  )
}

/** What is a secret without any word about it: four words with dashes, or signs of three kinds and more. */
export function isDrawnForSure(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 8 || isNumberOfText(bare)) return false
  if (/^[a-z]{3,12}(?:-[a-z]{3,12}){3,11}$/.test(bare)) return true
  if (/^(?=.*\d)(?=.*[a-z])[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,7}$/i.test(bare)) return true
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\d/]
  if (!kinds.every((kind) => kind.test(bare))) return false
  const changes = bare.match(/\p{Ll}(?=[\p{Lu}\d])|\p{Lu}(?=\d)|\d(?=\p{L})/gu)?.length ?? 0
  return /[^\p{L}\d./,:@_–-]/u.test(bare) || (bare.length > 9 && changes > 2)
}

/** How many digits something has, as in 6-digit, and names that begin with a number, as in 3Bridges. */
export const countOrBrand = /^\d{1,2}(?:-\p{Ll}{3,}|\p{Lu}\p{Ll}{3,})$/u

/** Dates, times, amounts, shares and ordinals. */
function isNumberOfText(bare: string): boolean {
  return (
    isDate(bare) ||
    /^\d{1,2}:\d\d(?::\d\d)?(?:[-–]\d{1,2}:\d\d)?$|^\d{1,3}\p{L}{1,3}$|^\d[\d.,]*%$/u.test(bare) ||
    /^\p{Sc}[\d.,' ]+$|^\d[\d.,' ]*\p{Sc}$|^(?:19|20)\d\d$/u.test(bare) ||
    isNetworkAddress(bare) ||
    countOrBrand.test(bare) ||
    /^\d{1,3}(?:[.,]\d{3})*[.,]\d\d?$/.test(bare)
  )
}

/** A day written in numbers. */
export function isDate(run: string): boolean {
  return /^(?:\d{1,4}[./-]){2}\d{1,4}$/.test(bareOf(run))
}

/** An address of the network, of version 4 or 6. */
export function isNetworkAddress(run: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$|^[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}$/.test(bareOf(run))
}

function bareOf(run: string): string {
  return run.replace(/^[[({"'«“]/, '').replace(/[.,;:!?)\]"'»”]{1,3}$/, '')
}

function withoutAccents(word: string): string {
  return word.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
}

/** A folded text, and a stretch of it as it is written. */
type Page = { text: string; written: (span: Span) => string }

/** A phrase has no more words; BIP 39 knows 24. */
const wordsMax = 24

/** Words of which a sentence has one, beside those that follow the name of a secret. */
const sentenceWords = new Set(
  `are was were been will would can could has have had does did may must should they them his her our us
    my then than when because after more most any all some other such very each every need want make
    find get help send thanks thank regards please message email mail link team support privacy terms
    sind war wird werden kann haben sie ihr wir uns mein aber wenn dann mehr alle bitte dank grusse
    sont sera peut nous elle mais plus tout merci que son sera puede pero mas todo gracias che sono ma
    grazie mas mais obrigado obrigada zijn wordt kan wij maar als dan meer dat deze dank`.split(
    /\s+/,
  ),
)

/** Whether a line is of nothing but plain words, with or without their numbers. */
export function isPhrase({ written }: Page, line: Span, wordsMin: number): boolean {
  const parts = partsOf(written(line)).filter((part) => !/^\d{1,2}[.):]?$/.test(part))
  return parts.length >= wordsMin && parts.length <= wordsMax && parts.every(isPlain)
}

/** Whether a line is of two codes or more, with or without their numbers. */
export function isRowOfCodes({ written }: Page, line: Span): boolean {
  const parts = partsOf(written(line)).filter((part) => !/^\d{1,2}[.):]$/.test(part))
  // Not an abbreviation and its number, as IBAN and what follows it.
  const count = parts.filter((part) => /\d/.test(part)).length
  if (count !== 0 && parts.some((part) => /^\p{Lu}{2,5}$/u.test(part))) return false
  return parts.length > 1 && parts.every((part) => /^[!-~]{4,}$/.test(part) && looksDrawn(part))
}

/** Whether a line is of words, each behind its number. */
export function isNumberedRow({ written }: Page, line: Span): boolean {
  const parts = partsOf(written(line))
  const first = Number.parseInt(parts[0] ?? '', 10)
  return (
    parts.length > 3 &&
    parts.length % 2 === 0 &&
    parts.every((part, at) =>
      at % 2 === 0
        ? /^\d{1,2}[.):]?$/.test(part) && Number.parseInt(part, 10) === first + at / 2
        : isPlain(part),
    )
  )
}

/** A secret with the words behind it up to the end of the sentence, where all are those of a phrase. */
export function withItsPhrase(page: Page, value: Span): Span {
  const rest = page.text.slice(value.end, value.end + wordsMax * 13)
  const lineStart = page.text.lastIndexOf('\n', value.start) + 1
  const line = /^(?: [a-z]{2,12}){1,23}(?=[.!]?(?:\s|$))/.exec(rest)?.[0] ?? ''
  const isBroken = value.end + line.length - lineStart > 35 && rest.startsWith('\n', line.length)
  const next = isBroken
    ? (/^\n[a-z]{2,12}(?: [a-z]{2,12}){0,9}(?=[.!]?(?:\n|$))/.exec(rest.slice(line.length))?.[0] ??
      '')
    : ''
  const whole = { start: value.start, end: value.end + line.length + next.length }
  const isEnd = /^[.!]?\s*(?:\n|$)/.test(page.text.slice(whole.end, whole.end + 8))
  return isEnd && isPhrase(page, whole, 3) ? whole : value
}

function isPlain(word: string): boolean {
  return /^[a-z]{2,12}$/.test(word) && !tellsOfSecrets(word) && !sentenceWords.has(word)
}

function partsOf(line: string): string[] {
  return line.split(/[\s|,]+/).filter((part) => part !== '')
}
