/** Asks for a page of the app, which is shown on the host of WEB_URL alone: fetch cannot name one. */
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'

const agent = new Agent({ keepAlive: true })

export type Asked = { status: number; body: string; firstByteMilliseconds: number }

export function askPage(url: string, cookie: string): Promise<Asked> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { host: 'localhost', cookie } }, (answer) => {
      const firstByteMilliseconds = performance.now() - began
      const { statusCode: status = 0 } = answer
      text(answer).then((body) => resolve({ status, body, firstByteMilliseconds }), reject)
    }).on('error', reject)
  })
}
