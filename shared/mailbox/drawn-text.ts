/** Whether a run of signs looks as if drawn at random, as secrets are, or is a word or number of a text. */
import { foldText } from './folded-text.ts'
import { noSecrets } from './secret-words.ts'

const mailbox = /^[^\s@]+@[^\s@]+\.\p{L}{2,}$/u

/** What is announced as a secret is one, unless it is a word that says something about it. */
export function isSecret(run: string): boolean {
  if (run.length < 3 || !/[\p{L}\p{N}]/u.test(run) || mailbox.test(bareOf(run))) return false
  return !noSecrets.has(foldText(bareOf(run)).text)
}

/** What stands alone is one, unless it is a word that begins with a capital, as names and titles do. */
export function isDrawn(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 4) return false
  return looksDrawn(run) || /^\p{Ll}+$/u.test(bare)
}

/** What is in the middle of a text is one by its signs: digits, signs among letters, capitals. */
export function looksDrawn(run: string): boolean {
  const bare = bareOf(run)
  if (!isSecret(run) || bare.length < 4 || isNumberOfText(bare)) return false
  if (/\p{N}/u.test(bare) || /^\p{Lu}+(?:-\p{Lu}+)?$/u.test(bare)) return true
  if (bare.split('-').length > 3) return true
  // Not its/theirs, it's, e.g. or well-known.
  if (/[\p{L}][^\p{L}\p{N}'’./,-]+\p{L}/u.test(bare)) return true
  const rises = bare.match(/\p{Ll}\p{Lu}/gu)?.length ?? 0
  return rises > 1 || (rises === 1 && bare.length < 6)
}

/** Dates, times, amounts, shares and ordinals. */
function isNumberOfText(bare: string): boolean {
  return (
    /^(?:\d{1,4}[./-]){2}\d{1,4}$|^\d{1,2}:\d\d|^\d{1,3}(?:\p{L}{1,3}|%)$|%$/u.test(bare) ||
    /^\p{Sc}|\p{Sc}$|^(?:19|20)\d\d$/u.test(bare) ||
    /^\d{1,3}(?:[.,]\d{3})*[.,]\d\d?$/.test(bare)
  )
}

function bareOf(run: string): string {
  return run.replace(/[.,;:!?)"'»”]{1,3}$/, '')
}
