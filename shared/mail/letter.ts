/**
 * The one format of every mail from this service: plain text, and HTML with the same content that is
 * readable in light and dark mode and loads nothing. Values written by others are cleaned here: they
 * can become neither markup nor a further header line, and mail programs make no links of addresses in
 * them. No mail contains a link that changes anything when it is opened.
 */
import { visibleLine } from '../text/untrusted.ts'

/** A finished mail without its recipient. */
export type Message = {
  /** The kind of mail, by which the hourly limit is counted. */
  topic: string
  subject: string
  text: string
  html: string
  /** Page that the mail leads to, for a push. */
  link?: string
}

/** A paragraph, or a block that is set off from the text. */
export type Part =
  | string
  | { code: string }
  | { facts: Readonly<Record<string, string>> }
  | { link: string; label: string }

type Rendered = { text: string; html: string }

/** Maximum characters of one value, which somebody else may have chosen. */
const valueLengthMax = 200

/** Writes a mail. The subject is also its heading. */
export function letter(topic: string, subject: string, parts: readonly Part[]): Message {
  const heading = clean(subject)
  const rendered = parts.map(render)
  const body = rendered.map(({ html }) => html).join('\n')
  const [link] = parts.flatMap((part) =>
    typeof part !== 'string' && 'link' in part ? [part.link] : [],
  )
  return {
    topic,
    subject: heading,
    text: `${rendered.map(({ text }) => text).join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta name="format-detection" content="telephone=no,\
email=no,address=no,date=no,url=no"><title>${escapeHtml(heading)}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif"><div style="max-width:520px">
<h1 style="font-size:20px;line-height:1.3">${escapeHtml(heading)}</h1>
${body}
</div></body></html>
`,
    ...(link !== undefined && { link }),
  }
}

function render(part: Part): Rendered {
  if (typeof part === 'string') return { text: part, html: `<p>${escapeHtml(part)}</p>` }
  if ('code' in part) return renderCode(clean(part.code))
  if ('link' in part) return renderLink(part)
  return renderFacts(Object.entries(part.facts).map(([name, value]) => [name, clean(value)]))
}

function renderCode(code: string): Rendered {
  const style = 'font:700 28px/1.5 ui-monospace,monospace;letter-spacing:4px'
  return { text: `    ${code}`, html: `<p style="${style}">${escapeHtml(code)}</p>` }
}

function renderLink({ link, label }: { link: string; label: string }): Rendered {
  const href = escapeHtml(new URL(link).href)
  // The address is shown as well, so that readers who know the service's address can compare it.
  const html = `<p><a href="${href}">${escapeHtml(label)}</a><br>
<small>${href}</small></p>`
  return { text: `${label}:\n${new URL(link).href}`, html }
}

function renderFacts(facts: readonly (readonly [string, string])[]): Rendered {
  const rows = facts.map(
    ([name, value]) => `<tr><th scope="row" style="text-align:left;vertical-align:top;\
padding:2px 16px 2px 0;font-weight:400;white-space:nowrap;opacity:.75">${escapeHtml(name)}</th>\
<td style="overflow-wrap:anywhere">${escapeHtml(value)}</td></tr>`,
  )
  return {
    text: facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    html: `<table role="presentation">${rows.join('\n')}</table>`,
  }
}

/** Returns the visible characters as one short line, with no address that can be followed. */
function clean(value: string): string {
  const line = visibleLine(value)
  const characters = Array.from(line)
  return unlinked(
    characters.length <= valueLengthMax
      ? line
      : `${characters.slice(0, valueLengthMax - 1).join('')}…`,
  )
}

/** Dots in names but not in numbers: `shop.example` becomes `shop[.]example`. */
const dots = '[.\\u2024\\u3002\\uff0e\\uff61]'
const dotOfName = new RegExp(
  `(?<=[^\\s\\d])${dots}(?=[\\p{L}\\p{N}\\p{M}])|(?<=\\d)${dots}(?=\\p{L})`,
  'gu',
)
/** The last dot of an IPv4 address that a path or a port follows. */
const dotOfAddress = /(?<=\b\d{1,3}\.\d{1,3}\.\d{1,3})\.(?=\d{1,3}[/:])/g
/** Schemes that mail programs follow even without slashes. */
const scheme =
  /\b(mailto|tel|sms|callto|skype|facetime|sip|xmpp|news|webcal|maps|geo|bitcoin|ethereum|javascript|data|https?)(?:: ?|\uff1a)(?=\S)/giu
/** The last digits of a phone number in a form that mail programs make callable. */
const phoneEnd =
  /((?:\+\d|\(\d{3}\) ?\d{3}-|\b(?:\d-)?\d{3}-\d{3}-)[\d ().-]{0,20}?)(\d{2,4})(?![\d ().-]{0,3}\d)/g

/** Breaks up addresses, because mail programs make links of them even without markup. */
function unlinked(line: string): string {
  return line
    .replaceAll(/https?:\/\//g, '')
    .replaceAll(scheme, '$1: ')
    .replaceAll('://', ': //')
    .replaceAll(/[@\uff20\ufe6b]/g, '[at]')
    .replaceAll(dotOfName, '[.]')
    .replaceAll(dotOfAddress, '[.]')
    .replaceAll(phoneEnd, '$1[$2]')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
