/**
 * Decodes character references of HTML (HTML standard, section 13.2.5.72 ff.): all numbers, and the
 * names that mails in Latin, Greek and typographic text use. An unknown name is left unchanged.
 */

/** Names of U+00A0 to U+00FF, in the order of their characters. */
const latin = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg
plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave
Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH
Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave
aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth
ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`

const others =
  `amp & lt < gt > quot " apos ' num # lpar ( rpar ) lsqb [ rsqb ] colon : comma , period .
sol / equals = plus + dollar $ percnt % ast * commat @ quest ? excl ! hyphen ‐ dash ‐ ndash – mdash —
lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ lsaquo ‹ rsaquo › hellip … bull • dagger † Dagger ‡
permil ‰ euro € trade ™ larr ← rarr → uarr ↑ darr ↓ minus − check ✓ OElig Œ oelig œ Scaron Š scaron š
Yuml Ÿ Zcaron Ž zcaron ž Ccaron Č ccaron č cacute ć Cacute Ć nacute ń Nacute Ń sacute ś Sacute Ś
zacute ź Zacute Ź zdot ż Zdot Ż lstrok ł Lstrok Ł eogon ę Eogon Ę aogon ą Aogon Ą gbreve ğ Gbreve Ğ
scedil ş Scedil Ş inodot ı imath ı Idot İ dstrok đ Dstrok Đ numero №`.split(/\s+/)

/** Names of characters that are invisible in source code. */
const unseen: readonly (readonly [string, number])[] = [
  ['Tab', 9],
  ['NewLine', 10],
  ['ensp', 0x2002],
  ['emsp', 0x2003],
  ['thinsp', 0x2009],
  ['zwnj', 0x200c],
  ['zwj', 0x200d],
  ['lrm', 0x200e],
  ['rlm', 0x200f],
]

const named = new Map<string, string>([
  ...latin.split(/\s+/).map((name, at) => [name, String.fromCodePoint(0xa0 + at)] as const),
  ...others.flatMap((name, at) => (at % 2 ? [] : [[name, others[at + 1] ?? ''] as const])),
  ...unseen.map(([name, code]) => [name, String.fromCodePoint(code)] as const),
])

const reference = /&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z][a-z0-9]*));?/gi

/** Returns the text with its references decoded. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(
    reference,
    (whole: string, hex?: string, decimal?: string, name?: string) => {
      if (hex !== undefined) return characterOf(Number.parseInt(hex, 16))
      if (decimal !== undefined) return characterOf(Number(decimal))
      return named.get(name ?? '') ?? named.get(name?.toLowerCase() ?? '') ?? whole
    },
  )
}

/** Returns the character of a number. The standard reads 128 to 159 as Windows-1252, as mails need. */
function characterOf(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows1252.decode(Uint8Array.of(code))
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\ufffd'
}

const windows1252 = new TextDecoder('windows-1252')
