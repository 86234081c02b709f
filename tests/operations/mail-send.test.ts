import { expect, test } from 'vitest'
import { deliver } from '../support/inbound.ts'
import type { Agent } from '../support/world.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world } = product

const mail = { to: ['ann@people.example'], subject: 'Hello', text: 'How are you?\n' }

function send(agent: Agent, body: object, headers?: Record<string, string>) {
  return agent.post('/mail-send', body, headers)
}

test('a mail goes out', async () => {
  const agent = await product.agent('pay')
  const answer = await send(agent, mail)
  console.log(product.log)
  expect(answer).toMatchObject({ status: 200 })
  const list = await agent.get('/mail-list')
  console.log(JSON.stringify([answer.body, list.body], null, 1))
  const [caught] = await product.mails('ann@people.example')
  console.log(caught)
  await deliver(world, {
    to: `${agent.alias}@agents.example`,
    from: 'Ann <ann@people.example>',
    subject: 'Your code is 482913',
    text: 'Your verification code is 482913.',
    authenticated: 'people.example',
  })
  const got = await agent.get('/mail-list?direction=in')
  console.log(JSON.stringify(got.body, null, 1))
  const waited = await agent.get(
    `/mail-wait?timeout_seconds=0&since=${encodeURIComponent(new Date(Date.now() - 5000).toISOString())}`,
  )
  console.log(JSON.stringify(waited.body, null, 1))
  const id = (waited.body as any).mail.mail_id
  console.log(JSON.stringify((await agent.get(`/mail-read?mail_id=${id}`)).body, null, 1))
  console.log(JSON.stringify((await send(agent, { reply_to_mail_id: id, text: 'thanks' })).body))
  console.log((await product.mails('ann@people.example')).at(-1))
  console.log(product.log)
})
