/**
 * Builds a mail from what an agent writes: plain text, and HTML that shows the same without any markup
 * of the agent's. It comes from the account's own address, never from one of this service.
 */
import { escapeHtml, type Message } from '../../mail/letter.ts'
import { messageIdOf } from '../../mail/own-message.ts'
import { visibleLine } from '../../mail/untrusted.ts'
import type { Reply } from './thread.ts'

/** A mail of an account, without the recipient of each sealed copy. */
export type AgentMail = Message & { from: string; headers: Record<string, string> }

/** Separator between two recipients (RFC 5322 section 2.2.3). A line has at most 998 characters. */
const nextRecipient = ',\r\n '

/** Writes the mail `<id@domain>` to all of its recipients. */
export function agentMail(mail: {
  id: string
  alias: string
  domain: string
  to: readonly string[]
  subject: string
  text: string
  reply: Reply | undefined
}): AgentMail {
  const { id, alias, domain, to, subject, text, reply } = mail
  return {
    topic: 'agent_mail',
    from: `${alias} <${alias}@${domain}>`,
    subject: visibleLine(subject),
    text,
    html: `<!doctype html>
<html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body><div style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text)}</div></body></html>
`,
    headers: {
      'Message-ID': messageIdOf(domain, id),
      To: to.join(nextRecipient),
      // RFC 3834 section 5: a program wrote this mail, so no program should answer it automatically.
      'Auto-Submitted': reply ? 'auto-replied' : 'auto-generated',
      ...reply?.headers,
    },
  }
}
