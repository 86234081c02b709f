/** A login and a code that an agent uses and never reads, at a site that sends codes by mail. */
import * as z from 'zod'
import type { Client } from './client.ts'
import { mustBe } from './client.ts'
import { openSite, type Site } from './vault-site.ts'
import type { WorldFile } from './world-file.ts'

const identity = z.object({ mail_address: z.string() })
const generated = z.object({ credential_id: z.uuid() })
const used = z.object({ status: z.int(), body: z.string(), removed: z.int() })
const waited = z.object({
  mail: z
    .object({ mail_id: z.uuid(), codes: z.array(z.object({ handle: z.string() })) })
    .nullable(),
})
const read = z.object({ untrusted: z.object({ text: z.object({ text: z.string() }) }) })
const deleted = z.object({ credential_id: z.uuid() })

export async function useSecrets(world: WorldFile, agent: Client): Promise<void> {
  console.log('\nA login and a mailed code that the agent uses and never reads')
  const { mail_address } = await agent.get('/get-identity', identity)
  const site = await openSite(world.mail.smtp_url, mail_address)
  try {
    await signIn(agent, site)
  } finally {
    await site.close()
  }
}

async function signIn(agent: Client, site: Site): Promise<void> {
  const login = { site: site.origin, username: 'demo' }
  const { credential_id } = await agent.post('/vault-generate', login, generated)
  const send = (path: string, name: string, secret: string) => {
    const inject = [{ where: 'form_field', name, secret }]
    return { credential_id, method: 'POST', path, inject }
  }
  const use = (...what: Parameters<typeof send>) => agent.post('/vault-use', send(...what), used)
  const welcome = await use('/sign-up', 'password', 'password')
  mustBe(
    'what the agent is shown',
    welcome.body,
    'Welcome. Your password is [secret removed], keep it well.',
  )

  const began = new Date().toISOString()
  await use('/sign-in', 'password', 'password')
  const { mail } = await agent.get(`/mail-wait?from=localhost&since=${began}`, waited)
  const handle = mail?.codes[0]?.handle ?? 'none'
  const { untrusted } = await agent.get(`/mail-read?mail_id=${mail?.mail_id ?? ''}`, read)
  const sealed = `Your sign-in code is [code ${handle}]. It is good for ten minutes.`
  mustBe('what the mail says to the agent', untrusted.text.text.trim(), sealed)
  const shown = JSON.stringify([welcome, untrusted])
  const isSeen = site.secrets().some((secret) => shown.includes(secret))
  mustBe('whether the agent saw password or code', isSeen, false)

  const inside = await use('/code', 'code', `mail.${handle}`)
  mustBe('what the site says to the code', inside.body, 'You are in.')
  const body = JSON.stringify(send('/code', 'code', `mail.${handle}`))
  const again = await agent.refused('/vault-use', { method: 'POST', body })
  mustBe('the code, used again', again, '404 code_not_found')
  await agent.post('/vault-delete', { credential_id }, deleted)
}
