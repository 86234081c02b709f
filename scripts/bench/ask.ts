/** Requests pages of the web app, which answer on the host of WEB_URL only; fetch cannot set a host. */
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'

const agent = new Agent({ keepAlive: true })

/** Answer of a page, with the milliseconds until its first byte. */
export type Asked = { status: number; body: string; firstByteMilliseconds: number }

/** Requests a page with this cookie, on the host `localhost`. */
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
