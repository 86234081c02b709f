/** The second of work that a form asks its browser for, which the script `human` does. */
import { Rejection } from '../../../shared/contract/errors.ts'
import { Notice } from './show.tsx'

/** The challenge that came with a refusal for want of work; whatever else was thrown goes on. */
export function challengeIn(error: unknown): string {
  const told = error instanceof Rejection ? error.refusal.details?.['challenge'] : undefined
  if (typeof told !== 'string') throw error
  return told
}

/** The attribute of the form that the script works from. */
export function workFor(challenge: string | undefined): { 'data-challenge'?: string } {
  return challenge === undefined ? {} : { 'data-challenge': challenge }
}

/** Inside the form. */
export function Work() {
  return (
    <>
      <input type="hidden" name="solution" value="" />
      <p id="progress" role="status" />
    </>
  )
}

export function NeedsScripts() {
  return (
    <noscript>
      <Notice kind="warning" title="Scripts are needed here">
        Your browser has to compute something for about a second.
      </Notice>
    </noscript>
  )
}

/** Above a form that is shown again for the work. */
export function WorkAsked() {
  return (
    <>
      <Notice kind="warning" title="Send it once more">
        Very many ask for this now. Your browser will compute for about a second, which keeps
        programs away.
      </Notice>
      <NeedsScripts />
    </>
  )
}
