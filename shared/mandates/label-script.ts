/**
 * Checks the scripts within one label of a host name. A label in one script, or in one of the sets in which
 * Japanese, Chinese and Korean are written, is "highly restrictive" in UTS 39 section 5.2. Only the scripts
 * that UAX 31 table 5 recommends are allowed.
 */

/** Patterns of a whole label: letters and marks of one script or set, ASCII digits and hyphens. */
const wholeLabels = [
  ['Latin'],
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
  ...(
    'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew ' +
    'Kannada Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'
  )
    .split(' ')
    .map((script) => [script]),
].map((scripts) => {
  const classes = scripts.map((script) => `\\p{Script_Extensions=${script}}`).join('')
  return new RegExp(`^[${classes}0-9-]+$`, 'u')
})

/** Letters that look like ASCII, after the lists of Chromium's policy for displaying names. */
const readAsLatin = [
  { script: /\p{Script=Cyrillic}/u, label: /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u },
  { script: /\p{Script=Armenian}/u, label: /^[աոսօցհյռւզղքց0-9-]+$/u },
  { script: /\p{Script=Greek}/u, label: /^[αικνρυωηοτ0-9-]+$/u },
]

/**
 * Phonetic letters that look like a, c, s and others and have been used in forged names: Unicode's IPA
 * Extensions, Phonetic Extensions and their supplement, those of Latin Extended-D, and dotless i.
 */
const phonetic = /[\u0131\u0250-\u02af\u1d00-\u1dbf\ua722-\ua787\ua7ae-\ua7ff]/u
/** Combining accent without a precomposed letter, which is easily overlooked on the letter before it. */
const looseAccent = /[\u0300-\u036f]/u

/** Returns true if a label mixes scripts in a way in which no language is written. */
export function mixesScripts(label: string): boolean {
  return !wholeLabels.some((whole) => whole.test(label))
}

/** Returns true if a label has forged-looking letters, or reads as ASCII below a TLD of another script. */
export function readsAsAnother(label: string, last: string): boolean {
  if (phonetic.test(label) || looseAccent.test(label)) return true
  return readAsLatin.some(
    (look) => look.script.test(label) && look.label.test(label) && !look.script.test(last),
  )
}
