/** What the owner's browser does on the pages, without one: it keeps cookies and sends forms. */
import type { WorldFile } from './world-file.ts'

export type OwnerBrowser = {
  /** Opens a page below the web app. */
  open(url: string): Promise<string>
  /** Sends a form of a page, the one at its own address or `page`, with these fields and its hidden ones. */
  send(url: string, fields: Record<string, string>, page?: string): Promise<string>
}

/** Signs the demo's owner in by password. */
export async function signInOwner({ web_url, owner }: WorldFile): Promise<OwnerBrowser> {
  const cookies = new Map<string, string>()
  const ask = async (url: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = new Headers(init.headers)
    headers.set('cookie', cookie)
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  const open = async (url: string) => (await ask(url)).text()
  const send = async (url: string, fields: Record<string, string>, page = url) => {
    const body = new URLSearchParams({ ...hiddenFields(await open(page)), ...fields })
    const answer = await ask(url, { method: 'POST', body, headers: { origin: originOf(url) } })
    if (answer.status !== 303) throw new Error(`the form of ${url} answered ${answer.status}`)
    return open(new URL(answer.headers.get('location') ?? '', url).href)
  }
  await send(`${web_url}/login`, { email: owner.email, password: owner.password })
  return { open, send }
}

function originOf(url: string): string {
  return new URL(url).origin
}

/** Of all forms of a page: they carry the same token, and terms are shown once. */
function hiddenFields(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
}
