import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const product = await start()

test('a mail goes out', async () => {
  const agent = await product.agent('pay')
  const answer = await agent.post('/mail-send', {
    to: ['ann@people.example'],
    subject: 'Hello',
    text: 'How are you?\n',
  })
  expect(answer).toMatchObject({ status: 200 })
})
