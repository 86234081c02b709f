/**
 * The mark in front of an agent's words in a mail to somebody who owns an account here. It keeps the
 * recipient, who also gets notices from this service, from mistaking the mail for one of them.
 */
import { senderAddress } from './address.ts'
import { escapeHtml } from './letter.ts'
import type { Outgoing } from './port.ts'

type Words = Pick<Outgoing, 'from' | 'text' | 'html'>

/** Returns the mail with the mark added. `notices` is the address that notices are sent from. */
export function markAsAgentMail<Mail extends Words>(mail: Mail, notices: string): Mail {
  const mark =
    `An AI agent wrote this email: ${senderAddress(mail.from)}. It is no notice about your account. ` +
    `Those come from ${notices}.`
  const style = 'border:1px solid;padding:8px;margin:0 0 16px;font:14px/1.5 system-ui,sans-serif'
  return {
    ...mail,
    text: `${mark}\n\n${mail.text}`,
    html: mail.html.replace('<body>', `<body><p style="${style}">${escapeHtml(mark)}</p>`),
  }
}
