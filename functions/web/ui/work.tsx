/** Proof of work: about a second of computing that a form asks of its browser; script `human` does it. */
import { Rejection } from '../../../shared/contract/errors.ts'
import { Notice } from './show.tsx'

/** Returns the challenge of a refusal that demands work; rethrows everything else. */
export function workChallengeIn(error: unknown): string {
  const told = error instanceof Rejection ? error.refusal.details?.['challenge'] : undefined
  if (typeof told !== 'string') throw error
  return told
}

/** Returns the attribute of the form that the script reads. */
export function proofOfWorkAttributes(challenge: string | undefined): {
  'data-challenge'?: string
} {
  return challenge === undefined ? {} : { 'data-challenge': challenge }
}

/** Renders the fields inside the form that the script fills. */
export function ProofOfWorkFields() {
  return (
    <>
      <input type="hidden" name="solution" value="" />
      <p id="progress" role="status" />
    </>
  )
}

/** Shows, without script, that this page needs it. */
export function NeedsScripts() {
  return (
    <noscript>
      <Notice kind="warning" title="Scripts are needed here">
        Your browser has to compute something for about a second.
      </Notice>
    </noscript>
  )
}

/** Explains above a form why it has to be sent again. */
export function ProofOfWorkNotice() {
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
