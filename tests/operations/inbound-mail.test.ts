import { expect, test } from 'vitest'
import { deliver } from '../support/inbound.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world, db } = product

test('keeps a mail for the account of its alias', async () => {
  const agent = await product.agent('read')

  await deliver(world, {
    to: `${agent.alias}@agents.example`,
    from: 'shop@shop.example',
    subject: 'Your code',
    text: 'Your verification code is 482913.',
    authenticated: 'shop.example',
  })

  const kept = await db.sql`select m.from_address, m.proven_domain, m.spf, c.domain, c.kind
    from private.mails m join private.mail_codes c on c.mail = m.id where m.account = ${agent.id}`
  expect(kept).toEqual([
    {
      from_address: 'shop@shop.example',
      proven_domain: 'shop.example',
      spf: 'pass',
      domain: 'shop.example',
      kind: 'code',
    },
  ])
})
