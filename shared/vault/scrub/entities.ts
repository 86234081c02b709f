/**
 * Named characters of HTML (https://html.spec.whatwg.org/multipage/named-characters.html) for ASCII
 * and Latin-1: what escapers write. Other characters have names that no escaper uses.
 */

const ascii =
  'Tab 9 NewLine 10 excl 33 quot 34 QUOT 34 num 35 dollar 36 percnt 37 amp 38 AMP 38 apos 39 ' +
  'lpar 40 rpar 41 ast 42 midast 42 plus 43 comma 44 period 46 sol 47 colon 58 semi 59 lt 60 LT 60 ' +
  'equals 61 gt 62 GT 62 quest 63 commat 64 lsqb 91 lbrack 91 bsol 92 rsqb 93 rbrack 93 Hat 94 ' +
  'lowbar 95 UnderBar 95 grave 96 DiacriticalGrave 96 lcub 123 lbrace 123 verbar 124 vert 124 ' +
  'VerticalLine 124 rcub 125 rbrace 125'

/** In the order of their codes from 160 on. */
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
