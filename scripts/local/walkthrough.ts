/** The first commands that a newcomer can paste, with this world's own addresses and keys. */
import { type LocalWorld, webUrlOf } from './world.ts'

const auth = '-H "authorization: Bearer $AOA_KEY"'

/** Shell lines and comments, in an order in which each works after the one before. */
export function walkthrough(world: LocalWorld): string {
  const { url, apiKeys, owner, shop, merchant, mail } = world
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
  const purchase = JSON.stringify({ resource_url: merchant.v2Url })
  const attempt = `"{\\"attempt_id\\":\\"$ATTEMPT\\",\\"user_confirmed\\":true}"`
  return [
    `export AOA_URL=${url}`,
    `export AOA_KEY=${apiKeys.pay}`,
    '# Who am I, and how much may I spend?',
    get('/get-identity'),
    '# What does my wallet hold on each chain?',
    post('get-wallet-balances', "'{}'"),
    `# Pay 5 USDC to ${shop.alias}; user_confirmed says that my user agreed.`,
    post('wallet-custodial-transfer', `'${JSON.stringify(transfer)}'`),
    '# Buy an answer that costs money (HTTP 402): freeze its terms, then pay.',
    `ATTEMPT=$(${post('x402-payment-prepare', `'${purchase}'`)} | sed -E 's/.*"attempt_id":"([^"]+)".*/\\1/')`,
    post('x402-payment-execute', attempt),
    '# What happened?',
    get('/wallet-activity-list?limit=5'),
    `# What the owner sees, as ${owner.email} with the password ${owner.password}: ${webUrlOf(world)}`,
    `# Mail that was sent to people: ${mail.outboxUrl}`,
  ].join('\n')
}
