/** Reads the mails that the local world caught. */
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import type { WorldFile } from '../demo/world-file.ts'

const mails = z.array(z.object({ subject: z.string(), text: z.string() }))
const looksMax = 200
const lookEveryMilliseconds = 100

/** Waits for a mail to this address with this subject and returns the text of the newest one. */
export async function mailTo({ mail }: WorldFile, to: string, subject: string): Promise<string> {
  const address = new URL(`/messages?to=${encodeURIComponent(to)}`, mail.outbox_url)
  for (let look = 0; look < looksMax; look += 1) {
    const caught = mails.parse(await (await fetch(address)).json())
    const found = caught.findLast((one) => one.subject === subject)
    if (found) return found.text
    await pause(lookEveryMilliseconds)
  }
  throw new Error(`no mail "${subject}" came to ${to}`)
}
