import { connectedChains } from '../../shared/chains/registry.ts'
import { isRefusal } from '../../shared/contract/errors.ts'
import { browserProblem } from '../../shared/http/browser.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { registerAccount } from '../../shared/onboarding/registration.ts'
import type { createAccount } from './contract.ts'

/** Opens the account for a browser; a call that does not look like one is refused first. */
export const run: Handler<typeof createAccount> = async (input, { world, headers, client }) => {
  const { registration: link, alias, password, form } = input
  const problem = browserProblem(headers, world.config.WEB_URL, form)
  if (problem) return problem
  const opened = await registerAccount(world, {
    link,
    alias,
    password,
    browser: { client, userAgent: '' },
  })
  if (isRefusal(opened)) return opened
  const chains = connectedChains(world.config).map((chain) => chain.caip2)
  return {
    account_id: opened.id,
    alias: opened.alias,
    mail_address: `${opened.alias}@${world.config.MAIL_DOMAIN}`,
    wallets: [{ chain_family: 'evm', address: opened.address, chains }],
    api_key: opened.apiKey,
  }
}
