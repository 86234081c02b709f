/** Acts as the owner's browser on the pages: it keeps cookies and sends forms. */
import type { WorldFile } from './client.ts'

/** The two things that the demo's owner does on pages. */
export type OwnerBrowser = {
  /** Opens a page of the web app and returns its HTML. */
  open(url: string): Promise<string>
  /** Sends a form with these fields and the hidden ones of `page`, by default its own address. */
  send(url: string, fields: Record<string, string>, page?: string): Promise<string>
}

/** Signs the demo's owner in by password. */
export async function signInOwner({
  web_url,
  owner,
}: Pick<WorldFile, 'web_url' | 'owner'>): Promise<OwnerBrowser> {
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
    if (answer.status !== 303) throw new Error(pageProblem(url, await answer.text()))
    return open(new URL(answer.headers.get('location') ?? '', url).href)
  }
  await send(`${web_url}/login`, { email: owner.email, password: owner.password })
  return { open, send }
}

/** Says why a form was not taken, in the words of the page that came back. */
function pageProblem(url: string, page: string): string {
  const [, main = page] = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(page) ?? []
  const words = main.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  return `the form of ${url} was not taken. The page says:${words.slice(0, 300)}
The demo cannot touch a passkey: if its owner has one, remove it under Security and start again.`
}

function originOf(url: string): string {
  return new URL(url).origin
}

/** Collects the hidden fields of all forms: they share one token, and terms are shown once. */
function hiddenFields(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
}
