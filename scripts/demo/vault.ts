/** A login and a code that an agent uses and never reads, at a site that sends codes by mail. */
import type { AccountClient } from '../client/index.ts'
import { mustBe, refusalOf } from './client.ts'
import { signInOwner } from './owner-browser.ts'
import { openSite, type Site } from './vault-site.ts'
import type { WorldFile } from './world-file.ts'

/** Signs up and signs in at a site and checks that the agent sees neither the password nor the code. */
export async function useSecrets(world: WorldFile, agent: AccountClient): Promise<void> {
  console.log('\nA login and a mailed code that the agent uses and never reads')
  const { mail_address } = await agent.getIdentity()
  const site = await openSite(world.mail.smtp_url, mail_address)
  try {
    await signIn(world, agent, site)
  } finally {
    await site.close()
  }
}

async function signIn(world: WorldFile, agent: AccountClient, site: Site): Promise<void> {
  const login = { site: site.origin, username: 'demo' }
  const { credential_id } = await agent.vaultGenerate(login)
  const signUp = () => {
    const place = { where: 'form_field', name: 'password', secret: 'password' } as const
    return agent.vaultUse({ credential_id, method: 'POST', path: '/sign-up', inject: [place] })
  }
  const welcome = await signUp()
  const { status, body } = welcome.response
  mustBe('what the agent is shown of the answer', `${status} ${body}`, '200 ')

  const began = new Date().toISOString()
  const { session, filled, asks } = await agent.vaultLogin({ credential_id, path: '/sign-in' })
  mustBe('what the form was filled in with', filled.join(), 'username,password')
  mustBe('what the site asks for next', asks?.join(), 'code')
  const { mail } = await agent.mailWait({ from: 'localhost', since: began })
  const handle = mail?.codes[0]?.handle ?? 'none'
  const { untrusted } = await agent.mailRead({ mail_id: mail?.mail_id ?? '' })
  const sealed = `Your sign-in code is [code ${handle}, 6 digits]. It is good for ten minutes.`
  mustBe('what the mail says to the agent', untrusted.text?.text.trim(), sealed)
  const shown = JSON.stringify([welcome, untrusted])
  const isSeen = site.secrets().some((secret) => shown.includes(secret))
  mustBe('whether the agent saw password or code', isSeen, false)

  const enter = () => agent.vaultSession({ session, secret: `mail.${handle}` })
  const alone = await refusalOf(enter())
  mustBe('the code, in a login that only the agent named', alone, '403 code_needs_owner')
  const page = `${world.web_url}/vault/${credential_id}`
  await (await signInOwner(world)).send(`${page}/codes`, { wanted: 'yes' }, page)
  console.log('  the owner lets the login take codes')
  const inside = await enter()
  mustBe('the status of the answer to the code', inside.response.status, 200)
  const again = await refusalOf(enter())
  mustBe('the code, used again', again, '404 code_not_found')
  await agent.vaultDelete({ credential_id })
}
