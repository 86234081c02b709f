/** Gets the confirmation of a payment: from the user at the terminal, or from the owner on a page. */
import type { Call } from './command.ts'
import { exitCodes } from './exit-codes.ts'

/** Payment that needs a confirmation. */
export type Question = {
  /** Id of the transfer or the attempt. */
  id: string
  summary: string
  /** Page on which the owner decides; absent if the user's word is enough. */
  url: string | undefined
}

/** Outcome: confirmed, or the exit code that tells why not. */
export type Confirmed = true | number

const waitSeconds = 25

/** Asks the user, or waits for the owner unless `--no-wait` was given. */
export async function askFor(call: Call, { id, summary, url }: Question): Promise<Confirmed> {
  const { screen, values } = call
  if (url === undefined) {
    if (values['yes'] === true || (await screen.confirm(summary))) return true
    screen.say(
      screen.isInteractive
        ? 'Nothing was paid.'
        : `${summary}\nNobody can be asked here: give --yes once your user has agreed.`,
    )
    return exitCodes.needsConfirmation
  }
  screen.say(`${summary}\nThe owner decides at ${url}`)
  if (values['no-wait'] === true) return exitCodes.needsConfirmation
  screen.say('Waiting for the owner ...')
  for (;;) {
    call.signal.throwIfAborted()
    const seen = await call.account().transferStatus({ transfer_id: id, wait_seconds: waitSeconds })
    const status = seen.confirmation?.status
    if (status === 'pending') continue
    if (status === 'approved' || seen.tx_hash !== null) return true
    const why = seen.confirmation?.decline_reason
    screen.say(
      status === 'declined'
        ? `The owner said no${why ? `: ${why}` : ''}.`
        : 'Nobody decided in time.',
    )
    return exitCodes.needsConfirmation
  }
}
