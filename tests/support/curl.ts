/** Does what the printed commands ask of curl, for machines that have none. */
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { createTransport } from 'nodemailer'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    'show-error': { type: 'boolean', short: 'S' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
    'upload-file': { type: 'string', short: 'T' },
    'mail-from': { type: 'string', default: '' },
    'mail-rcpt': { type: 'string', default: '' },
  },
})
const [url = ''] = positionals

if (url.startsWith('smtp:')) await mail()
else process.stdout.write(await request())

async function request(): Promise<string> {
  const headers = new Headers()
  for (const line of values.header) {
    const [name = '', ...rest] = line.split(':')
    headers.set(name, rest.join(':').trim())
  }
  const body = values.data
  const answer = await fetch(
    url,
    body === undefined ? { headers } : { method: 'POST', headers, body },
  )
  return answer.text()
}

async function mail(): Promise<void> {
  const envelope = { from: values['mail-from'], to: values['mail-rcpt'] }
  await createTransport(url).sendMail({ envelope, raw: await text(process.stdin) })
}
