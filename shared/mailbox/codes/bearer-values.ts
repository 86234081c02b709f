/**
 * Finds secrets that nothing calls a code: cards and vouchers that pay for whoever knows their number, what
 * a sentence says to be somebody's own, and, in a mail with a secret or a warning, the values of short labels.
 */
import type { Candidate } from './code-candidates.ts'
import { numberLabel } from './code-words.ts'
import { isRandomAlone, isRandomInText, isSurelyRandom, isYear } from './drawn-text.ts'
import { isBareLabel, tellsWhom } from './labels.ts'
import type { Span } from './spans.ts'
import { isTouched, lastIn, matchesOf, spanAt } from './spans.ts'
import { lineEnd, lineStart } from './text-lines.ts'
import type { NamedText } from './value-lines.ts'
import { endsThere, runAt, runsOf } from './value-lines.ts'

/** A whole number of a card that pays, or its three digits. */
const cardNumber =
  /(?:card|kart|carte|tarjeta|carta|cartao|kaart|карт|卡|カード|카드)[^\d\n]{0,24}[\s:]{1,4}((?:\d{4}[ -]?){3}\d{4})(?![ -]?\d)/gu
const cardCode =
  /(?:cvv2?|cvc2?|security code|sicherheitscode|prufziffer|code de securite|codigo de seguranca|codigo de seguridad|codice di sicurezza)[\s:]{1,4}(\d{3})(?!\d)/gu
const voucher =
  /(?:voucher|gift|gutschein|geschenk|cadeau|regalo|presente|podarunk|сертификат|hediye|礼品卡|ギフト|기프트)\p{L}{0,12}(?: \p{L}{1,12}){0,4}[\s:]{1,4}(?=\S)/gu
const software =
  /(?:シリアル|序列号|시리얼|serial|licen[cs]e|lizenz|licencia|licenza|product|registration|activation)\p{L}{0,12}(?: \p{L}{2,12}){0,2}[\s:]{1,4}(?=\S)/gu
const endOfLine = /(?:^|[: \t])([A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,12}){2,7})[.]?[ \t]{0,4}$/gmu
/** A number to be shown to somebody, or used to open something. */
const shown =
  /(?<!\p{L})(?:show|tell|give|zeigen|nennen|montrez|donnez|muestr\p{L}{1,3}|mostr\p{L}{1,3}|toon|podaj|назовите|soyleyin)(?!\p{L})[^.!?\n:]{0,40}(?:number|digits|nummer|zahl|numero|chiffres|cifre|numer|цифр\p{L}{0,2}|номер|numara\p{L}{0,2})(?!\p{L})[^.!?\n:]{0,30}: {0,2}(\d[\d -]{2,12}\d)(?!\d)/gu
const opening =
  /(?<!\p{L})(?:open|unlock|view|access|decrypt|extract|release|offnen|entsperren|ouvrir|deverrouiller|abrir|aprire|openen|otworzyc|открыть)(?!\p{L})[^.!?\n]{0,60} (?:use|with|enter|type|mit|avec|con|com|met|nutzen sie|verwenden sie|utilisez|usa) (?:(?:the|this|den|le|el|il|number|code) ){0,2}(?=\S)/gu
/** A number or a mix behind what is locked, or behind a short sentence that says what it is now. */
const locked =
  /(?<!\p{L})(?:door|gate|box|lock|garage|entrance|alarm|tur|tor|schloss|kasten|tresor|portail|porte|boite|immeuble|puerta|porton|caja|porta|portone|portao|cancello|cassetta|deur|poort|kluis|drzwi|bram\p{L}|skrytk\p{L}|двер\p{L}|ворот\p{L}|kapi|door|dor|dorr\p{L}{0,2})(?!\p{L})[^.!?\n\d]{0,90} (?:dial|press|is|with|mit|ist|auf|avec|est|le|con|es|el|e|il|met|kod|z|med|er|ar|с) (\d{4,8})(?![\p{L}\d]| ?[\p{L}\p{Sc}%]{1,3}\d| ?(?:eur|usd|sq|m2))/gu
const isNow =
  /(?:^|[.!?\n>] )(?:\p{L}{1,10} ){0,3}(?:is|ist|est|es|e|to|jest|je|er|ar|on):? (\d{4,8}|\d{2,4}(?: \d{2,4}){1,3})(?![\d\p{L}]|[.,]\d)/gmu
/** The label of a name and a secret that a slash divides. */
const pairLabel =
  /(?:wi-?fi|wlan|login|user|benutzer|utilisateur|usuario|utente|gebruiker)[^:\n]{0,20}:/gu
/** The password of a user on the command line, as of curl or of a database. */
const ofCommand =
  /(?<!\S)(?:-u ?[^\s:\d][^\s:]{0,63}(?::| -p ?)|sshpass -p ?|redis-cli [^\n]{0,60}-a )(\S{3,64})/gu
/** Digits that a telephone dials after a number, to enter a meeting. */
const dialled = /(?:,{2,8}|[,*]\*)(\d{4,12})(?=#)/gu
/** A number that a mail with another secret says to use. */
const withNumber =
  /(?<!\p{L})(?:with|mit|avec|avec le|con|con el|com|met|med|z|с) (\d{4,8})(?=[.,;!?)]?(?:\s|$))/gu
const ownValue =
  /(?<!\p{L})(?:your|ihre?|deine?|votre|su|tu|tuo|tua|seu|sua|uw|je|twoj|ваш|din|ditt) (\p{L}{2,20}(?: \p{L}{2,20}){0,2}) (?:is|lautet|ist|est|es|e|to|ar|er)[ :]{1,3}(?=\S)/gu

/** Returns the numbers of cards and vouchers, and drawn values that a sentence calls the reader's own. */
export function bearerValues(page: NamedText): Span[] {
  const numbers = [cardNumber, cardCode, shown, locked, ofCommand, dialled].flatMap((pattern) =>
    groupsOf(page, pattern),
  )
  const now = groupsOf(page, isNow).filter(
    (value) => isNamedNear(page, value.start) && !isYear(page.written(value)),
  )
  const pairs = pairsOf(page)
  const vouchers = runsBehind(page, voucher).filter(({ value }) => isVoucher(page.written(value)))
  const own = runsBehind(page, ownValue).filter(
    ({ label, value }) =>
      isMixed(page.written(value)) && endsThere(page, value) && isUnknown(page, label),
  )
  const licensed =
    /licen[cs]e|lizenz|licencia|licenza|licenca|licentie|licencj|лиценз|许可证|ライセンス|라이선스/u.test(
      page.text,
    )
      ? runsOf(page, endOfLine).filter((value) => isLicence(page.written(value)))
      : []
  const licences = runsBehind(page, software).filter(({ value }) => isLicence(page.written(value)))
  const keys = runsBehind(page, opening).filter(({ value }) => isOpener(page.written(value)))
  return [
    ...numbers,
    ...now,
    ...pairs,
    ...licensed,
    ...[...vouchers, ...licences, ...keys, ...own].map(({ value }) => value),
  ].filter((span) => !isTouched(page.links, span))
}

/** Returns the group of each match, which is its last occurrence. */
function groupsOf(page: NamedText, pattern: RegExp): Span[] {
  return matchesOf(pattern, page.text).map(({ 0: whole, 1: value = '', index }) =>
    spanAt(index + whole.lastIndexOf(value), value),
  )
}

/** Returns what is behind the slash on the line of a label. */
function pairsOf(page: NamedText): Span[] {
  return matchesOf(pairLabel, page.text).flatMap(({ 0: label, index }) => {
    const start = index + label.length
    const line = page.text.slice(start, Math.min(start + 120, lineEnd(page.text, start)))
    const [first = '', second = '', ...others] = line.split('/').map((part) => part.trim())
    const value = spanAt(start + line.lastIndexOf(second), second)
    const isPair = others.length === 0 && first !== '' && /^\S{5,}$/.test(second)
    const isDrawn = /^wi?-?[fl]/.test(label) ? isRandomAlone : isRandomInText
    return isPair && isDrawn(page.written(value)) ? [value] : []
  })
}

/** Returns true if the sentence or line before a place names a code or a password. */
function isNamedNear({ names }: NamedText, end: number): boolean {
  return lastIn(names, { start: Math.max(0, end - 120), end: end - 1 }) !== undefined
}

function runsBehind(page: NamedText, pattern: RegExp): { label: Span; value: Span }[] {
  return matchesOf(pattern, page.text).flatMap(({ 0: label, index }) => {
    const value = runAt(page, index + label.length)
    return value ? [{ label: { start: index, end: index + label.length }, value }] : []
  })
}

/** Returns true for ten digits or letters mixed with digits, in groups or not. */
function isVoucher(written: string): boolean {
  const signs = written.replaceAll('-', '')
  return /^[A-Z0-9]{8,40}$/.test(signs) && /\d/.test(signs) && !/^\d{8}$/.test(signs)
}

/** Returns true for three groups or more with letters and digits. */
function isLicence(written: string): boolean {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(written)) return true
  return /^[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7}$/.test(written) && /\d/.test(written)
}

/** Returns true for a number, and for letters mixed with digits. */
function isOpener(written: string): boolean {
  if (/^\d{4,8}$/.test(written)) return !isYear(written)
  return /^(?=.*\d)(?=.*[A-Z])[A-Z0-9-]{6,24}$/.test(written) || isMixed(written)
}

/** Returns true for six letters and digits or more, in turns as in no promotion's code and no model. */
function isMixed(written: string): boolean {
  const changes = written.match(/\p{L}(?=\d)|\d(?=\p{L})/gu)?.length ?? 0
  return isRandomInText(written) && written.length > 5 && changes > 1
}

/** Returns true if a label is neither the name of another number nor ends in a word for number. */
function isUnknown({ text, others }: Pick<NamedText, 'text' | 'others'>, label: Span): boolean {
  return !isTouched(others, label) && !numberLabel.test(text.slice(label.start, label.end))
}

const labelBefore =
  /(?:^|[.!?] )[\s>*|_•·-]{0,8}([^:.!?\n]{2,40}?) {0,3}(?:[:=]|- |→)[\s*_"'`]{0,4}$/u
const labelAbove = /^[\s>*|_•·-]{0,8}[^:.!?\n]{2,40}:?[\s*_]{0,4}$/u
const restOfValue = /^[\s*_"'`#]{0,6}(?:$|[,.;(–-])/u

/** Returns candidates behind short labels that name nothing known, for a mail that holds other secrets. */
export function besideSecrets(page: NamedText, candidates: readonly Candidate[]): Span[] {
  const isWarned = warns(page.text)
  const beside = candidates.filter((one) => {
    if (isWarned && isFramed(page, one)) return true
    const label = labelOf(page, one)
    if (label === undefined || isTouched(page.others, label)) return false
    const written = page.written(one)
    const isKept = isWarned && written.length > 7 && (isSurelyRandom(written) || isMixed(written))
    return isKept || (isUnknown(page, label) && isDrawn(one, written))
  })
  const used = groupsOf(page, withNumber).filter((value) => !isYear(page.written(value)))
  return [...beside, ...used]
}

/** Returns true if only signs are beside a candidate on its line, on both sides. */
function isFramed({ text }: NamedText, { start, end }: Span): boolean {
  const [left, right] = [
    text.slice(lineStart(text, start), start),
    text.slice(end, lineEnd(text, end)),
  ]
  return [left, right].every((side) => /^\s{0,12}[^\s\p{L}\p{N}]{1,12}\s{0,12}$/u.test(side))
}

function labelOf({ text }: NamedText, { start, end }: Span): Span | undefined {
  const line = { start: lineStart(text, start), end: start }
  if (!restOfValue.test(text.slice(end, lineEnd(text, end)))) return undefined
  const words = text.slice(line.start, line.end)
  if (/\p{L}/u.test(words)) {
    const isLabel = labelBefore.test(words) || isBareLabel(words)
    return isLabel && !tellsWhom.test(words.trimEnd()) ? line : undefined
  }
  const above = text.slice(0, line.start).trimEnd().length
  if (line.start - above > 8) return undefined
  const label = { start: lineStart(text, above), end: above }
  const isLabel = labelAbove.test(text.slice(label.start, label.end))
  return isLabel && !tellsWhom.test(text.slice(label.start, label.end)) ? label : undefined
}

function isDrawn(one: Candidate, written: string): boolean {
  if (one.form === 'letters' || isYear(written)) return false
  return (
    one.form === 'digits' ||
    /^\d{2,4}(?:[ -]\d{2,4}){1,3}$/.test(written) ||
    isSurelyRandom(written) ||
    isMixed(written)
  )
}

/** Words that ask to keep something secret, or say that it works only once. */
const warning =
  /(?:do not|don't|never) (?:share|lend|stream|post|forward)|keep (?:it|this|them|both|the \p{L}{2,12}) (?:safe|secret|private|confidential|to yourself)|keep it to|only to the|with (?:anyone|anybody|others)|(?:share|forward) (?:this|it)|works (?:only )?once|used (?:only )?once|single.use|one.time|niemandem|geheim|vertraulich|weitergeb|weiterleit|weitersag|nur einmal|confidentiel|a personne|ne partage|une seule fois|confidencial|con nadie|una sola vez|no compart|riservat|a nessuno|non condivid|una sola volta|nao compart|ninguem|vertrouwelijk|met niemand|eenmalig|nikomu|poufn|никому|не сообщ|paylasma|kimse|请勿|勿泄|不要告诉|他人に|教えない|공유하지/u

/** Returns true if a text asks to keep something secret. */
export function warns(text: string): boolean {
  return warning.test(text)
}
