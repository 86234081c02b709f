/**
 * Named characters of HTML (https://html.spec.whatwg.org/multipage/named-characters.html): those of ASCII
 * and Latin-1, which every escaper writes, and letters of other alphabets.
 */

const ascii =
  'Tab 9 NewLine 10 excl 33 quot 34 QUOT 34 num 35 dollar 36 percnt 37 amp 38 AMP 38 apos 39 ' +
  'lpar 40 rpar 41 ast 42 midast 42 plus 43 comma 44 period 46 sol 47 colon 58 semi 59 lt 60 LT 60 ' +
  'equals 61 gt 62 GT 62 quest 63 commat 64 lsqb 91 lbrack 91 bsol 92 rsqb 93 rbrack 93 Hat 94 ' +
  'lowbar 95 UnderBar 95 grave 96 DiacriticalGrave 96 lcub 123 lbrace 123 verbar 124 vert 124 ' +
  'VerticalLine 124 rcub 125 rbrace 125'

/** Names in the order of their codes, from 160 on. */
const latin1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn ' +
  'sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave ' +
  'Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ' +
  'ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN ' +
  'szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute ' +
  'icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml ' +
  'yacute thorn yuml'

const asciiWords = ascii.split(' ')

/** Code by name, without ampersand and semicolon. */
export const namedEntities: ReadonlyMap<string, number> = new Map([
  ...asciiWords.flatMap((name, at): [string, number][] =>
    at % 2 === 0 ? [[name, Number(asciiWords[at + 1])]] : [],
  ),
  ...latin1.split(' ').map((name, at): [string, number] => [name, 160 + at]),
])

const greek =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf ' +
  'sigma tau upsilon phi chi psi omega'

const cyrillic = 'a b v g d ie zh z i j k l m n o p r s t u f kh ts ch sh shch hard y soft e yu ya'

const otherLetters = new Map<string, number>([
  ...greek.split(' ').flatMap((name, at): [string, number][] => [
    [name, 0x3b1 + at],
    [name.slice(0, 1).toUpperCase() + name.slice(1), 0x391 + at],
  ]),
  ...cyrillic.split(' ').flatMap((name, at): [string, number][] => [
    [`${name}cy`, 0x430 + at],
    [`${name.toUpperCase()}cy`, 0x410 + at],
  ]),
  ['iocy', 0x451],
  ['IOcy', 0x401],
  ...Array.from('ŁłĐđĦħŦŧ', (one): [string, number] => [
    `${'LlDdHhTt'.charAt('ŁłĐđĦħŦŧ'.indexOf(one))}strok`,
    one.charCodeAt(0),
  ]),
  ...(
    [
      ['OElig', 'Œ'],
      ['oelig', 'œ'],
      ['imath', 'ı'],
      ['inodot', 'ı'],
      ['fnof', 'ƒ'],
      ['euro', '€'],
    ] as const
  ).map(([name, one]): [string, number] => [name, one.charCodeAt(0)]),
])

/** Combining marks by the suffixes that they have in names of letters. */
const marks = new Map([
  ['grave', 0x300],
  ['acute', 0x301],
  ['circ', 0x302],
  ['tilde', 0x303],
  ['macr', 0x304],
  ['breve', 0x306],
  ['dot', 0x307],
  ['uml', 0x308],
  ['ring', 0x30a],
  ['dblac', 0x30b],
  ['caron', 0x30c],
  ['cedil', 0x327],
  ['ogon', 0x328],
])

/** Returns the code of a character by its name, such as `Ccaron`; undefined if the name is unknown. */
export function codeOfName(name: string): number | undefined {
  const known = namedEntities.get(name) ?? otherLetters.get(name)
  const mark = known === undefined ? marks.get(name.slice(1)) : undefined
  if (mark === undefined) return known
  const letter = `${name.slice(0, 1)}${String.fromCharCode(mark)}`.normalize('NFC')
  return letter.length === 1 ? letter.charCodeAt(0) : undefined
}
