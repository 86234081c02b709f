import { getAddress } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blacklist } from '../../scripts/local/chain/fund.ts'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { addressSchema } from '../../shared/chains/hex.ts'
import { knownChains } from '../../shared/chains/registry.ts'
import { textWith } from '../support/matching.ts'
import { randomBytes } from '../support/seed.ts'
import { type Agent, mailDomain, start } from '../support/world.ts'

const path = '/resolve-transfer-recipient'
const world = await start({ chain: true })
const payer = await world.agent('read')
const bob = await world.agent('read', { alias: 'bob' })
const ask = (recipient: string, more: object = {}) => payer.post(path, { recipient, ...more })
const stranger = () => addressSchema.parse(getAddress(`0x${randomBytes(20).toString('hex')}`))

function codes({ body }: { body: Record<string, unknown> }): string[] {
  return [...JSON.stringify(body['warnings']).matchAll(/"code":"(\w+)"/g)].map(
    ([, code = '']) => code,
  )
}

test.each(['bob', 'BOB', ' bob ', 'ｂｏｂ'])('finds an account by its alias %j', async (alias) => {
  expect(await ask(alias)).toMatchObject({
    status: 200,
    body: { kind: 'alias', alias: 'bob', address: bob.address, chain_family: 'evm' },
  })
})

test('finds an account by its mail address on the domain of the service', async () => {
  for (const mail of [`bob@${mailDomain}`, `Bob@${mailDomain.toUpperCase()}`]) {
    expect(await ask(mail)).toMatchObject({
      status: 200,
      body: { kind: 'mail', alias: 'bob', address: bob.address },
    })
  }
})

test('takes an address as it is, and does not tell whose account it is', async () => {
  const answer = await ask(bob.address)
  expect(answer).toMatchObject({ status: 200, body: { kind: 'address', address: bob.address } })
  expect(answer.body).not.toHaveProperty('alias')
})

test.each([
  'nobody-here',
  `nobody@${mailDomain}`,
  'bob@elsewhere.example',
  `bob@sub.${mailDomain}`,
])('has no recipient %j', async (recipient) => {
  expect(await ask(recipient)).toMatchObject({
    status: 404,
    body: { error: 'recipient_not_found' },
  })
})

test('a new recipient needs a confirmation, a known one does not', async () => {
  const before = await ask('bob')
  expect(before.body).toMatchObject({ known: false, requires_user_confirm: true })
  expect(codes(before)).toEqual(['new_recipient'])
  await world.acquaint(payer, bob.address)

  for (const spelling of ['bob', bob.address]) {
    expect((await ask(spelling)).body).toMatchObject({
      known: true,
      requires_user_confirm: false,
      warnings: [],
    })
  }
})

test("whom another account knows is not known to one's own", async () => {
  const [other, target] = [await world.agent('read'), stranger()]
  await world.acquaint(other, target)
  expect((await ask(target)).body).toMatchObject({ known: false })
})

test('warns of every address that has both ends of a known one', async () => {
  const careful = await world.agent('read')
  const known = stranger()
  await world.acquaint(careful, known)
  const middle = fc.uint8Array({ minLength: 16, maxLength: 16 })
  await fc.assert(
    fc.asyncProperty(middle, async (bytes) => {
      const inside = Buffer.from(bytes).toString('hex')
      const twin = getAddress(`${known.slice(0, 6)}${inside}${known.slice(-4)}`.toLowerCase())
      const answer = await careful.post(path, { recipient: twin })
      expect(answer.body).toMatchObject({ known: false, requires_user_confirm: true })
      expect(codes(answer)).toContain('similar_recipient')
      expect(JSON.stringify(answer.body['warnings'])).toContain(known)
    }),
    { numRuns: 25 },
  )
})

test('an imitation that was paid once still needs a confirmation each time', async () => {
  const careful = await world.agent('read')
  const known = stranger()
  const twin = getAddress(`${known.slice(0, 6)}${'07'.repeat(16)}${known.slice(-4)}`.toLowerCase())
  await world.acquaint(careful, known)
  await world.acquaint(careful, twin)

  const answer = await careful.post(path, { recipient: twin })

  expect(answer.body).toMatchObject({ known: true, requires_user_confirm: true })
  expect(codes(answer)).toEqual(['similar_recipient'])
})

test('an address that shares one end alone is no imitation', async () => {
  const careful = await world.agent('read')
  const known = stranger()
  await world.acquaint(careful, known)
  const flip = (digit = '') => (digit.toLowerCase() === 'a' ? 'b' : 'a')
  const [start4, end4] = [known.slice(2, 6), known.slice(-4)]
  const inside = randomBytes(16).toString('hex')
  const near = [
    `0x${flip(start4[0])}${start4.slice(1)}${inside}${end4}`,
    `0x${start4}${inside}${end4.slice(0, 3)}${flip(end4[3])}`,
  ]
  for (const text of near) {
    const answer = await careful.post(path, { recipient: getAddress(text.toLowerCase()) })
    expect(codes(answer)).toEqual(['new_recipient'])
  }
})

test.each([
  ['nobody', '0x0000000000000000000000000000000000000000', 'burn_address'],
  ['the burn address', '0x000000000000000000000000000000000000dEaD', 'burn_address'],
  ['a precompile', '0x0000000000000000000000000000000000000001', 'precompile'],
  ['the token itself', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'token_contract'],
  ['a token of another chain', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'token_contract'],
  ['Multicall3', '0xcA11bde05977b3631167028862bE2a173976CA11', 'system_contract'],
  ['Permit2', '0x000000000022D473030F116dDEE9F6B43aC78BA3', 'system_contract'],
  ['a proxy of x402', '0x402085c248EeA27D92E8b30b2C58ed07f9E20001', 'system_contract'],
])('refuses to send money to %s', async (_name, address, reason) => {
  for (const spelling of [address, address.toLowerCase()]) {
    expect(await ask(spelling)).toMatchObject({
      status: 422,
      body: { error: 'recipient_refused', details: { reason } },
    })
  }
})

test("refuses the payer's own wallet under each of its names", async () => {
  for (const own of [payer.address, payer.alias, `${payer.alias}@${mailDomain}`]) {
    expect(await ask(own)).toMatchObject({ status: 422, body: { error: 'recipient_refused' } })
  }
})

test('refuses an address in which a letter is mistyped, and says so', async () => {
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const answer = await ask(address.replace('dc3A', 'dc3a'))
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(answer.body['message']).toContain('EIP-55')
  expect((await ask(address)).status).toBe(200)
})

test('warns that nothing guards an address without a checksum', async () => {
  const address = stranger()
  expect(codes(await ask(address))).not.toContain('no_checksum')
  const answer = await ask(address.toLowerCase())
  expect(codes(answer)).toContain('no_checksum')
  expect(answer.body['address']).toBe(address)
})

test.each(['0x', '0x1234', `0x${'g'.repeat(40)}`, `0x${'a'.repeat(41)}`, 'a@b@c', '', '!', 'a b'])(
  'cannot read %j',
  async (recipient) => {
    expect(await ask(recipient)).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  },
)

test('tells a contract from an account, and from an account that runs code', async () => {
  const [contract, delegated, account] = [stranger(), stranger(), stranger()]
  await callRpc(world.chain.rpcUrl, [['anvil_setCode', contract, '0x6000']])
  // EIP-7702: the code of a delegating account is 0xef0100 followed by an address.
  const delegation = `0xef0100${contract.slice(2).toLowerCase()}`
  await callRpc(world.chain.rpcUrl, [['anvil_setCode', delegated, delegation]])

  const answers = await Promise.all([contract, delegated, account].map((one) => ask(one)))

  expect(answers.map(({ body }) => body['is_contract'])).toEqual([true, false, false])
  expect(answers.map((answer) => codes(answer).includes('contract'))).toEqual([true, false, false])
})

test('warns of a recipient that the issuer of a token bars', async () => {
  const [barred, other] = [stranger(), stranger()]
  await blacklist(world.chain, barred)

  const warned = await ask(barred)

  expect(warned.body['warnings']).toEqual([
    {
      code: 'barred',
      message: 'The issuer of USDC bars this recipient on Base Sepolia: it can be paid none there.',
    },
    { code: 'new_recipient', message: textWith('not made this recipient known') },
  ])
  expect(codes(await ask(other))).toEqual(['new_recipient'])
})

test('refuses a chain that it is not connected to', async () => {
  for (const chain of ['base', 'eip155:1', '8453', 'nowhere']) {
    expect(await ask('bob', { chain })).toMatchObject({
      status: 422,
      body: { error: 'unsupported_chain' },
    })
  }
})

test('answers without the chain, saying that it does not know', async () => {
  const apart = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
  const lonely: Agent = await apart.agent('read')
  expect(await lonely.post(path, { recipient: stranger() })).toMatchObject({
    status: 200,
    body: { is_contract: null, known: false },
  })
})

test.each(['base-sepolia', 'Base Sepolia', 'BASE_SEPOLIA', 'eip155:84532', '84532', 84532])(
  'the chain may be written as %s',
  async (chain) => {
    const found = await ask('bob', { chain })
    const unknown = await ask('bob', { chain: 'sep' })

    expect(found.status).toBe(200)
    expect(unknown).toMatchObject({ status: 422, body: { hint: textWith('Base Sepolia') } })
  },
)

test('no two networks can be written alike', () => {
  const forms = knownChains.flatMap(({ id, caip2, name, title }) => [
    ...new Set([`${id}`, caip2, name, title.toLowerCase().replaceAll(' ', '-')]),
  ])

  expect(new Set(forms).size).toBe(forms.length)
})
