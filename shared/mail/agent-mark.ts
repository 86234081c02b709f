/**
 * What stands before the words of an agent that writes to the mailbox of somebody who owns an account
 * here: whoever gets notices must not take it for one.
 */
import { senderAddress } from './address.ts'
import { escapeHtml } from './letter.ts'
import type { Outgoing } from './port.ts'

type Words = Pick<Outgoing, 'from' | 'text' | 'html'>

/** The mail with its mark; `notices` is the address that notices come from. */
export function markedAsAgents<Mail extends Words>(mail: Mail, notices: string): Mail {
  const mark =
    `An AI agent wrote this mail: ${senderAddress(mail.from)}. It is no notice about your account. ` +
    `Those come from ${notices}.`
  const style = 'border:1px solid;padding:8px;margin:0 0 16px;font:14px/1.5 system-ui,sans-serif'
  return {
    ...mail,
    text: `${mark}\n\n${mail.text}`,
    html: mail.html.replace('<body>', `<body><p style="${style}">${escapeHtml(mark)}</p>`),
  }
}
