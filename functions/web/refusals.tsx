/** Refusals as pages: the sentence of the error table, and the way on. */
import { type ErrorCode, errorTable, fail, Rejection } from '../../shared/contract/errors.ts'
import { goTo } from './frame.ts'
import { Page, show } from './layout.tsx'
import { LinkButton } from './parts/form.tsx'
import { dropSession } from './session-cookie.ts'
import { forgetTyped, sendTyped } from './typed.ts'
import type { Visit } from './visit.ts'

/** Sentences of the table that speak to an agent, as they are put to a person. */
const toPeople: Partial<Record<ErrorCode, string>> = {
  not_found: 'There is nothing at this address. It may have been typed wrong, or be gone.',
  payload_too_large: 'The form holds more than this page takes.',
  rate_limited: 'Too many requests in a short time. Wait a moment, then try again.',
}

const titles: Partial<Record<ErrorCode, string>> = {
  not_found: 'Page not found',
  link_not_found: 'This link is not valid',
  foreign_form: 'The form was not accepted',
  rate_limited: 'Too many requests',
  unavailable: 'Not available right now',
  internal_error: 'Something failed on our side',
}

export function answerNotFound(c: Visit) {
  return answerError(new Rejection(fail('not_found')), c)
}

/** Anything thrown: the way to sign in or to prove oneself where that helps, else a page. */
export function answerError(error: Error, c: Visit) {
  const refusal =
    error instanceof Rejection
      ? error.refusal
      : fail('internal_error', { log: String(error.stack ?? error) })
  if (refusal.refusal === 'unauthorized') {
    dropSession(c)
    forgetTyped(c)
    return goTo(c, `/login?next=${here(c)}`)
  }
  if (refusal.refusal === 'proof_required') {
    sendTyped(c)
    return goTo(c, `/proof?next=${here(c)}`)
  }
  const requestId = c.get('requestId')
  const code = refusal.refusal
  if (refusal.log !== undefined) {
    c.get('world').log({ requestId, operation: 'web', error: code, log: refusal.log })
  }
  const [status, sentence] = errorTable[code]
  const owner = c.get('owner')
  return show(
    c,
    <Page c={c} title={titles[code] ?? 'That did not work'} {...(owner ? { owner } : {})}>
      <p>{refusal.message ?? toPeople[code] ?? sentence}</p>
      <p>
        <LinkButton to="">To the overview</LinkButton>
      </p>
      <p class="quiet">
        Request <code>{requestId}</code>
      </p>
    </Page>,
    status,
  )
}

/** The page to come back to; a form is at the path of the page that shows it. */
function here(c: Visit): string {
  const { pathname, search } = new URL(c.req.url)
  // What a script asks of a page, and a second form on it, stand below it.
  const page = pathname.replace(/\/(options|narrow|shown|deleted|codes|enter)$/, '')
  return encodeURIComponent(page + search)
}
