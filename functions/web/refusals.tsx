/** Refusals as pages: the sentence of the error table, and a link to go on. */
import { type ErrorCode, errorTable, fail, Rejection } from '../../shared/contract/errors.ts'
import { ClosedAccount, goTo } from './frame.ts'
import { Page, sendPage } from './layout.tsx'
import { dropSession } from './session-cookie.ts'
import { LinkButton } from './ui/form.tsx'
import { deleteFormDraft, type PageContext, storeFormDraft } from './visit.ts'

/** Sentences of the table that are meant for agents, reworded for people. */
const toPeople: Partial<Record<ErrorCode, string>> = {
  not_found: 'There is nothing at this address. It may be mistyped, or the page may be gone.',
  payload_too_large: 'The form is too large for this page.',
  rate_limited: 'Too many requests in a short time.',
}

const titles: Partial<Record<ErrorCode, string>> = {
  not_found: 'Page not found',
  link_not_found: 'This link is not valid',
  foreign_form: 'The form was not accepted',
  rate_limited: 'Too many requests',
  unavailable: 'Not available right now',
  internal_error: 'Something failed on our side',
  account_on_hold: 'The account is on hold',
}

/** Answers a path that no page has. */
export function answerNotFound(c: PageContext) {
  return answerError(new Rejection(fail('not_found')), c)
}

/** Answers an error: a redirect to sign in or to prove oneself where that helps, else a page. */
export function answerError(error: Error, c: PageContext) {
  if (error instanceof ClosedAccount) return goTo(c, '/closed')
  const refusal =
    error instanceof Rejection
      ? error.refusal
      : fail('internal_error', { log: String(error.stack ?? error) })
  if (refusal.refusal === 'unauthorized') {
    dropSession(c)
    deleteFormDraft(c)
    return goTo(c, `/login?next=${here(c)}`)
  }
  if (refusal.refusal === 'proof_required') {
    storeFormDraft(c)
    return goTo(c, `/proof?next=${here(c)}`)
  }
  const requestId = c.get('requestId')
  const code = refusal.refusal
  if (refusal.log !== undefined) {
    c.get('world').log({ requestId, operation: 'web', error: code, log: refusal.log })
  }
  const [status, sentence] = errorTable[code]
  const owner = c.get('owner')
  const { retryAfterSeconds } = refusal
  if (retryAfterSeconds !== undefined) c.header('retry-after', String(retryAfterSeconds))
  return sendPage(
    c,
    <Page c={c} title={titles[code] ?? 'That did not work'} {...(owner ? { owner } : {})}>
      <p>
        {refusal.message ?? toPeople[code] ?? sentence}
        {againIn(refusal.retryAfterSeconds)}
      </p>
      <p>
        {code === 'account_on_hold' && <LinkButton to="/hold">Review the hold</LinkButton>}{' '}
        <LinkButton to="">Go to the overview</LinkButton>
      </p>
      <p class="quiet">
        Request <code>{requestId}</code>
      </p>
    </Page>,
    status,
  )
}

function againIn(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` Try again in ${waitInWords(seconds)}.`
}

/** Returns a wait in the largest unit of which it is more than one and a half, rounded up. */
export function waitInWords(seconds: number): string {
  const [unit, length] = units.find(([, length]) => seconds >= 1.5 * length) ?? ['second', 1]
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(Math.ceil(seconds / length))
}

const units = [
  ['hour', 3600],
  ['minute', 60],
] as const

/** Returns the page to come back to; a form is posted to the path of its page. */
function here(c: PageContext): string {
  const { pathname, search } = new URL(c.req.url)
  // Requests of scripts and further forms of a page have paths below it.
  const page = pathname.replace(/\/(options|narrow|shown|deleted|codes|enter)$/, '')
  return encodeURIComponent(page + search)
}
