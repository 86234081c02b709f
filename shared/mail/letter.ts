/**
 * The one form of every mail: plain text, and HTML that says the same, readable in light and dark,
 * with nothing loaded from anywhere. What others wrote is cleaned here and can be neither markup nor
 * another line of the header, and no address in it stays one that a mail program makes a link of. No mail holds a link that changes anything by being opened.
 */
import { visibleLine } from './untrusted.ts'

/** A finished mail but for whom it goes to. */
export type Message = {
  /** What kind of mail it is; a limit counts by it. */
  topic: string
  subject: string
  text: string
  html: string
}

/** A paragraph, or something set off from the text. */
export type Part =
  | string
  | { code: string }
  | { facts: Readonly<Record<string, string>> }
  | { link: string; label: string }

type Rendered = { text: string; html: string }

/** Characters of one value that somebody else may have chosen. */
const valueLengthMax = 200

/** Writes a mail; the subject is also its heading. */
export function letter(topic: string, subject: string, parts: readonly Part[]): Message {
  const heading = clean(subject)
  const rendered = parts.map(render)
  const body = rendered.map(({ html }) => html).join('\n')
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
  // The address is shown as well: who knows the service by its address can compare.
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

/** One short line of what can be seen, with no address that can be followed. */
function clean(value: string): string {
  const line = visibleLine(value)
  const characters = Array.from(line)
  return unlinked(
    characters.length <= valueLengthMax
      ? line
      : `${characters.slice(0, valueLengthMax - 1).join('')}…`,
  )
}

/** Dots of a name, not of a figure: `shop.example` becomes `shop[.]example`. */
const dots = '[.\\u2024\\u3002\\uff0e\\uff61]'
const dotOfName = new RegExp(
  `(?<=[^\\s\\d])${dots}(?=[\\p{L}\\p{N}\\p{M}])|(?<=\\d)${dots}(?=\\p{L})`,
  'gu',
)
/** The last dot of an address of four numbers that a path or a port follows. */
const dotOfAddress = /(?<=\b\d{1,3}\.\d{1,3}\.\d{1,3})\.(?=\d{1,3}[/:])/g
/** Schemes that mail programs follow without slashes. */
const scheme =
  /\b(mailto|tel|sms|callto|skype|facetime|sip|xmpp|news|webcal|maps|geo|bitcoin|ethereum|javascript|data|https?)(?:: ?|\uff1a)(?=\S)/giu
/** The last digits of a phone number as it is written for people to call. */
const phoneEnd =
  /((?:\+\d|\(\d{3}\) ?\d{3}-|\b(?:\d-)?\d{3}-\d{3}-)[\d ().-]{0,20}?)(\d{2,4})(?![\d ().-]{0,3}\d)/g

/** Mail programs make links of addresses that nobody marked as such. */
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

/** Text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
