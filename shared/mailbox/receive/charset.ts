/**
 * Decodes text of a mail in the charset that its bytes show. Many mails name none, or a wrong one, and in
 * the wrong charset no word is recognised, so a code would stay in the open. Declared charsets are tried
 * like the others, and preferred where little speaks against them.
 */
import { foldText } from '../codes/folded-text.ts'
import { spansOf } from '../codes/text-lines.ts'
import { actionPattern, codeNamePattern } from '../codes/words.ts'

const charsets = `windows-1252 windows-1251 koi8-r shift_jis euc-jp gb18030 big5 euc-kr windows-1254
  windows-1250 iso-8859-2 windows-1257 windows-1253 windows-1255 windows-1256 windows-874 iso-8859-5
  ibm866`.split(/\s+/)
/** Numbers of code pages that the Encoding standard does not list as labels. */
const codePages = new Map([
  ['932', 'shift_jis'],
  ['936', 'gb18030'],
  ['949', 'euc-kr'],
  ['950', 'big5'],
  ['874', 'windows-874'],
])

/** Bytes that are judged, from a little before the first that is not ASCII. */
const judgedMax = 8 * 1024
const metaCharset = /charset\s{0,4}=\s{0,4}["']?([\w-]{2,40})/i

/** Decodes a text; undefined if it is one in no known charset. */
export function decodeText(bytes: Uint8Array, declared = ''): string | undefined {
  const sure = sureCharset(bytes, declared)
  if (sure !== undefined) return decodedIn(sure, bytes)
  const begin = new TextDecoder('latin1').decode(bytes.subarray(0, judgedMax))
  const named = [declared, metaCharset.exec(begin)?.[1] ?? ''].flatMap(
    (one) => charsetLabel(one) ?? [],
  )
  const first = Math.max(0, bytes.findIndex((byte) => byte > 127) - 200)
  const judged = bytes.subarray(first, first + judgedMax)
  const scored = [...new Set([...named, ...charsets])].flatMap((charset) => {
    const text = decodedIn(charset, judged, true)
    return text === undefined || !isText(text) ? [] : [{ charset, score: scoreOf(text) }]
  })
  const best = scored.toSorted((a, b) => b.score - a.score)[0]
  if (!best) return undefined
  const isPreferred = ({ charset, score }: { charset: string; score: number }) =>
    named.includes(charset) && score > 0 && score >= best.score * 0.9
  return decodedIn((scored.find(isPreferred) ?? best).charset, bytes)
}

/** Returns true for a text without control characters, except white space and escape, and private ones. */
export function isText(text: string): boolean {
  return !/(?![\t-\r])\p{Cc}|\p{Co}|\ufffd/u.test(text.replaceAll('\u001b', ''))
}

/** Returns the charset of a text that can be in no other. */
function sureCharset(bytes: Uint8Array, declared: string): string | undefined {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (/^utf-?16/i.test(declared.trim())) return charsetLabel(declared)
  const isSwitching = bytes.includes(27) && bytes.every((byte) => byte < 128)
  if (isSwitching && /^\s*iso-2022/i.test(declared)) return charsetLabel(declared)
  const begin = bytes.subarray(0, 400)
  if (isSwitching && hasSwitch(bytes)) return 'iso-2022-jp'
  const zeros = [0, 1].map((side) => begin.filter((byte, at) => byte === 0 && at % 2 === side))
  const [even = 0, odd = 0] = zeros.map(({ length }) => length)
  if (odd > begin.length / 8 && even < odd / 4) return 'utf-16le'
  if (even > begin.length / 8 && odd < even / 4) return 'utf-16be'
  return decodedIn('utf-8', bytes, true) === undefined ? undefined : 'utf-8'
}

/** Returns true if a text switches to Japanese characters (RFC 1468). */
function hasSwitch(bytes: Uint8Array): boolean {
  return bytes.some((byte, at) => byte === 27 && bytes[at + 1] === 0x24)
}

function decodedIn(charset: string, bytes: Uint8Array, isWhole = false): string | undefined {
  try {
    // The last character of a sample may be cut.
    return new TextDecoder(charset, { fatal: isWhole }).decode(bytes, { stream: isWhole })
  } catch {
    return undefined
  }
}

function charsetLabel(name: string): string | undefined {
  const label = name.trim().toLowerCase()
  const page = codePages.get(/^(?:x-)?(?:cp|ms|ibm|windows-?)(\d{3})$/.exec(label)?.[1] ?? '')
  try {
    return page ?? new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

const frequent = `的一是不了在人有我他这中大来上个国和也子时道说要就出会可你对生能而那得于自之后里您验证码录请为
  這個國來說會對時後裡們您驗證碼錄請為登入密信使用本分內效请号码账户安全订单编件元年月日时间好尊敬客服务支付运费收货地址確認日本語語者様円下行新規
  이다는을의가에하고지로한인니기사요세를도습입드증번호코은`
/** Accented letters of the languages that are written in Latin letters. */
const alphabets =
  `àâçéèêëîïôùûœ äöüß áéíñóúüºª ãõáâàçéêíóôúºª àèéìòù åäöæøé áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž
  ąćęłńóśźż áéíóöőúüű ăâîșşțţ čćđšž çğıöşüâî ąčęėįšųūž āčēģīķļņšūž äõöüšž`.split(/\s+/)
const frequentCyrillic = 'оеаинтсрвлкмдпуяыьі'
const rareCyrillic = 'ъэщфёђѓєѕјљњћџ'

/** Returns how far a text looks like one that people write, by its words and by what stands side by side. */
function scoreOf(text: string): number {
  const folded = foldText(text)
  const words = [codeNamePattern, actionPattern]
    .flatMap((pattern) => spansOf(pattern, folded.text))
    .filter(({ start, end }) => /[^\0-\u007f]/.test(text.slice(folded.at[start], folded.at[end])))
  let score = words.length * 6
  let before = ' '
  for (const sign of text) {
    if (sign > '\u007f' || before > '\u007f') score += valueOf(before, sign)
    before = sign
  }
  return score + scoreOfLatin(text)
}

/** Returns how far the accented letters of a text are those of one language. */
function scoreOfLatin(text: string): number {
  const beside = /(?<=[a-z])(?![a-z])\p{Script=Latin}|(?![a-z])\p{Script=Latin}(?=[a-z])/gu
  const letters = text.toLowerCase().match(beside) ?? []
  const scores = alphabets.map((alphabet) =>
    letters.reduce((sum, letter) => sum + (alphabet.includes(letter) ? 2 : -2), 0),
  )
  return Math.max(...scores)
}

const besideLetters = /[\u3000-\u303f\uff00-\uff0f\uff1a-\uff20¡¿«»“”„‘’–—…·]/

function valueOf(before: string, sign: string): number {
  const isBroken = /\p{Ll}/u.test(before) && /\p{Lu}/u.test(sign)
  if (isBroken) return -4
  if (sign < '\u0080') return 0
  if (/[¡¿«]/.test(sign) && !/\p{L}/u.test(before)) return 2
  if (/[\uff61-\uff9f]/.test(sign)) return -3
  if (/\p{Script=Cyrillic}/u.test(sign)) return valueOfCyrillic(before, sign)
  if (/[\p{Script=Latin}\p{Zs}]/u.test(sign)) return 0
  const isOfScript = scripts.some(({ letters }) => letters.test(sign))
  if (isOfScript && /[A-Za-z]/.test(before)) return -2
  // A letter by itself is a word of many languages, and another in the charset beside it.
  const isAlone = before < '\u0080' && !/[\p{Script=Han}\p{Script=Hangul}ぁ-ヿ]/u.test(sign)
  if (isOfScript && isAlone) return 0
  if (/\p{Script=Thai}/u.test(sign)) return valueOfThai(before, sign)
  if (isOfScript && frequent.includes(sign)) return 6
  const value = scripts.find(({ letters }) => letters.test(sign))?.value
  return value ?? (/\p{L}/u.test(before) && !besideLetters.test(sign) ? -3 : 0)
}

/** Scripts other than Latin and Cyrillic, with what a letter counts. One of two bytes counts twice as much. */
const scripts: readonly { letters: RegExp; value: number }[] = [
  { letters: /\p{Script=Han}/u, value: 1 },
  { letters: /\p{Script=Hangul}/u, value: 2 },
  { letters: /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u, value: 6 },
  // Nearly all letters of Hebrew are Greek in the charset beside it, but not the other way round.
  { letters: /[\u05d0-\u05ea]/, value: 2.2 },
  { letters: /\p{Script=Hebrew}/u, value: -4 },
  { letters: /[\p{Script=Greek}\p{Script=Arabic}\p{Script=Thai}]/u, value: 2 },
]

/** A vowel sign or tone mark of Thai stands behind a consonant or another mark. */
function valueOfThai(before: string, sign: string): number {
  if (/[ฃฅฆฌฏฯฺ๏๚๛฿]/.test(sign)) return -3
  const isMark = /\p{M}/u.test(sign)
  return isMark && !/[\u0e01-\u0e2e\p{M}]/u.test(before) ? -5 : 2
}

function valueOfCyrillic(before: string, sign: string): number {
  if (/[A-Za-z]/.test(before)) return -2
  if (!/\p{Script=Cyrillic}/u.test(before)) return 0
  if (rareCyrillic.includes(sign)) return -1
  return frequentCyrillic.includes(sign) ? 3 : 1
}
