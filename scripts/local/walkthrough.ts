/** The first commands that a newcomer can paste, with the addresses and keys of this world. */
import { mailDomain } from './bindings.ts'
import { webUrlOf } from './describe-world.ts'
import type { LocalWorld } from './local-world.ts'

const auth = '-H "authorization: Bearer $AOA_KEY"'

/** Returns shell lines and comments in an order in which each command works after the one before. */
export function walkthrough(world: LocalWorld): string {
  const { url, apiKeys, owner, shop, mail } = world
  const get = (path: string) => `curl -sS "$AOA_URL${path}" ${auth}`
  const post = (path: string, body: string) =>
    `curl -sS "$AOA_URL/${path}" ${auth} -H 'content-type: application/json' -d ${body}`
  const transfer = {
    recipient: shop.alias,
    chain: 'base-sepolia',
    token: 'USDC',
    amount: '5',
    user_confirmed: true,
  }
  const purchase = JSON.stringify({ resource_url: `${url}/sandbox/v2/report` })
  const attempt = `"{\\"attempt_id\\":\\"$ATTEMPT\\",\\"user_confirmed\\":true}"`
  const address = `${owner.alias}@${mailDomain}`
  const letter =
    'From: A site <site@localhost>\\nSubject: Hello\\n\\nYour sign-in code is 482913.\\n'
  return [
    `export AOA_URL=${url}`,
    `export AOA_KEY=${apiKeys.pay}`,
    '# Who am I, and how much may I spend?',
    get('/get-identity'),
    '# What does my wallet hold on each chain?',
    post('get-wallet-balances', "'{}'"),
    `# Pay 5 USDC to ${shop.alias}; user_confirmed says that my user agreed.`,
    post('wallet-custodial-transfer', `'${JSON.stringify(transfer)}'`),
    '# Buy a report of the sandbox, which costs test money (HTTP 402): freeze its terms, then pay.',
    `ATTEMPT=$(${post('x402-payment-prepare', `'${purchase}'`)} | sed -E 's/.*"attempt_id":"([^"]+)".*/\\1/')`,
    post('x402-payment-execute', attempt),
    '# Have a password drawn for a login; it is kept, and nobody is shown it.',
    post('vault-generate', `'${JSON.stringify({ site: 'https://example.com', username: 'me' })}'`),
    '# Get a mail with a code. I read who wrote, and a handle where the code stood.',
    `printf '${letter}' | curl -sS ${mail.smtpUrl} --mail-from site@localhost --mail-rcpt ${address} -T -`,
    get('/mail-list?limit=1'),
    '# What happened?',
    get('/wallet-activity-list?limit=5'),
    '# What should an agent know before it does any of this?',
    'curl -sS "$AOA_URL/skill.md" | sed -n 1,40p',
    `# Let an agent in without a key: claude mcp add --transport http account ${url}/mcp`,
    `# What the owner sees, as ${owner.email} with the password ${owner.password}: ${webUrlOf(world)}`,
    `# Any mail client may write to ${address}: ${mail.smtpUrl}. All mail: ${mail.outboxUrl}`,
  ].join('\n')
}
