/**
 * Scripts of one label of a name, as people read it. A label in one script, or in one of the sets
 * in which Japanese, Chinese and Korean are written, is what UTS 39 section 5.2 calls highly
 * restrictive; only the scripts that UAX 31 table 5 recommends count.
 */

/** Whole labels: letters of one script or set with its own marks, ASCII digits and hyphens. */
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

/** Letters that read as ASCII, after the lists of Chromium's policy for names shown to people. */
const readAsLatin = [
  { script: /\p{Script=Cyrillic}/u, label: /^[аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+$/u },
  { script: /\p{Script=Armenian}/u, label: /^[աոսօցհյռւզղքց0-9-]+$/u },
  { script: /\p{Script=Greek}/u, label: /^[αικνρυωηοτ0-9-]+$/u },
]

/**
 * Letters of phonetic writing that read as a, c, s and others, with which names were forged: Unicode's
 * IPA Extensions, Phonetic Extensions and their supplement, and those of Latin Extended-D; dotless i.
 */
const phonetic = /[\u0131\u0250-\u02af\u1d00-\u1dbf\ua722-\ua787\ua7ae-\ua7ff]/u
/** A combining accent for which Unicode has no letter hides over the letter before it. */
const looseAccent = /[\u0300-\u036f]/u

/** Whether a label mixes scripts in a way in which no language is written. */
export function mixesScripts(label: string): boolean {
  return !wholeLabels.some((whole) => whole.test(label))
}

/** Whether people could read a label as another one, under a last label of another script. */
export function readsAsAnother(label: string, last: string): boolean {
  if (phonetic.test(label) || looseAccent.test(label)) return true
  return readAsLatin.some(
    (look) => look.script.test(label) && look.label.test(label) && !look.script.test(last),
  )
}
