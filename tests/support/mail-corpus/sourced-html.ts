/** Converts the lines of a mail to HTML as mail templates have it, with tables and lists. */

type Random = () => number

/** Returns the HTML of a mail. A line that is a secret becomes a block, and an address a link. */
export function asSourcedHtml(
  lines: readonly string[],
  secrets: readonly string[],
  random: Random,
): string {
  const [alone, pairs, links] = [random(), random(), random()]
  const blocks = lines.map((line) => {
    if (secrets.includes(line.trim())) return loneBlock(escaped(line.trim()), alone)
    if (/https?:\/\//.test(line)) return linkBlock(line, links)
    const [, name, value] = /^([^:：]{1,40}?)\s*[:：]\s*(\S.*)$/.exec(line) ?? []
    return name && value
      ? pairBlock(escaped(name), escaped(value), pairs)
      : `<p style="margin:0 0 16px">${escaped(line)}</p>`
  })
  return `<html><head><title></title></head><body><div style="max-width:600px">${blocks.join('\n')}</div></body></html>`
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function loneBlock(secret: string, chance: number): string {
  if (chance < 0.2) return `<p style="font-size:30px"><b>${secret}</b></p>`
  if (chance < 0.4) return `<blockquote><big>${secret}</big></blockquote>`
  if (chance < 0.6)
    return `<table role="presentation"><tr><td align="center"><span style="border:1px solid #ddd;padding:8px 16px">${secret}</span></td></tr></table>`
  if (chance < 0.8) return `<pre><code>${secret}</code></pre>`
  return `<div style="letter-spacing:4px;font-family:monospace">${secret}</div>`
}

function pairBlock(name: string, value: string, chance: number): string {
  if (chance < 0.25) return `<p>${name}: ${value}</p>`
  if (chance < 0.45) return `<ul><li>${name}: <strong>${value}</strong></li></ul>`
  if (chance < 0.65) return `<table><tr><td>${name}</td><td>${value}</td></tr></table>`
  if (chance < 0.8) return `<p><strong>${name}</strong>: <code>${value}</code></p>`
  if (chance < 0.9) return `<dl><dt>${name}</dt><dd>${value}</dd></dl>`
  return `<p>${name}:<br><b>${value}</b></p>`
}

/** Returns a link that shows its address or hides it behind a button. */
function linkBlock(line: string, chance: number): string {
  const marked = line
    .split(/(https?:\/\/[^\s\]]+?)(?=[.,;]?(?:\s|\]|$))/)
    .map((part) => {
      if (!/^https?:/.test(part)) return escaped(part)
      const href = escaped(part)
      return `<a style="background:#06c" href="${href}">${chance < 0.5 ? href : 'OK'}</a>`
    })
    .join('')
  return `<p>${marked}</p>`
}
