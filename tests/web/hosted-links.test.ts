/** The pages of hosted links work in browsers without script. */
import { beforeAll, expect, test } from 'vitest'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { openBrowser, signedIn } from '../support/browserless.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs } from '../support/deposits.ts'
import { linkOf, statusOf } from '../support/links.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })

beforeAll(async () => {
  await indexTransfers(world.world)
})

const pathOf = (link: { url: string }) => new URL(link.url).pathname
const storedActions = () => world.db.sql`select to_jsonb(a) from private.hosted_actions a`

test('GET and HEAD of a link change nothing, in whatever state it is', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'deposit' })
  const phone = openBrowser(world)
  for (const step of [undefined, 'open', 'decline']) {
    await phone.visit(pathOf(link))
    if (step) await phone.submit({}, `${pathOf(link)}/${step}`)
    const before = await storedActions()
    for (const path of ['', '/status', '/open', '/decline', '/verify', '/connect']) {
      await openBrowser(world).visit(pathOf(link) + path)
      await phone.send(pathOf(link) + path, { method: 'HEAD' })
      await phone.visit(pathOf(link) + path)
    }
    expect(await storedActions()).toEqual(before)
  }
})

test('a deposit is asked for, opened, awaited and shown as arrived, with a way back by hand', async () => {
  const agent = await world.agent('read')
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '12.5' }
  const return_url = 'https://shop.example/back?order=7'
  const link = await linkOf(agent, { action_type: 'deposit', ...order, return_url })
  const phone = openBrowser(world)
  const offered = await phone.visit(pathOf(link))
  expect(offered.text).toContain(`${agent.alias}’s agent is asking you to send 12.5 USDC`)
  expect(offered.html).not.toContain(agent.address)

  const opened = await phone.submit({}, `${pathOf(link)}/open`)

  expect(opened.html).toContain(`data-copy="${agent.address}"`)
  expect(opened.html).toContain('<svg class="qr"')
  expect(opened.html).toContain('Code for sending USDC on Base Sepolia')
  expect(opened.html).toContain('<noscript><meta http-equiv="refresh"')
  expect(opened.html).not.toContain(return_url)
  await payAs(world, newKey().at, agent.address, 12_500_000n)
  await indexTransfers(world.world)
  expect((await phone.visit(`${pathOf(link)}/status`)).html).toBe('finished')
  const arrived = await phone.visit(pathOf(link))
  expect(arrived.text).toContain('The money has arrived')
  expect(arrived.text).toContain('12.50 USDC')
  expect(arrived.html).toContain(`href="${return_url}"`)
  expect(arrived.text).toContain('Back to shop.example')
  expect(arrived.headers.get('refresh')).toBeNull()
})

test('less than was asked for is not shown as the money that was', async () => {
  const agent = await world.agent('read')
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '12.5' }
  const link = await linkOf(agent, { action_type: 'deposit', ...order })
  const phone = openBrowser(world)
  await phone.visit(pathOf(link))
  await phone.submit({}, `${pathOf(link)}/open`)

  await payAs(world, newKey().at, agent.address, 12_499_999n)
  await indexTransfers(world.world)

  const { text } = await phone.visit(pathOf(link))
  expect(text).toContain('Less arrived than was asked for')
  expect(text).toContain('12.499999 USDC')
})

test('a second browser is told that the link is used, and sees nothing of the account', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'deposit', amount: '12.5' })
  const phone = openBrowser(world)
  const desktop = openBrowser(world)
  await phone.visit(pathOf(link))
  await desktop.visit(pathOf(link))
  await phone.submit({}, `${pathOf(link)}/open`)

  const late = await desktop.submit({}, `${pathOf(link)}/open`)
  const later = await desktop.visit(pathOf(link))

  for (const page of [late, later]) {
    expect(page).toMatchObject({ status: 410 })
    expect(page.text).toContain('This link has been used')
    for (const secret of [agent.alias, agent.address, '12.5']) {
      expect(page.html).not.toContain(secret)
    }
  }
})

test('declined and expired links say so, and unknown ones that they are none', async () => {
  const agent = await world.agent('read')
  const [declined, expired] = [
    await linkOf(agent, { action_type: 'human_verification' }),
    await linkOf(agent, { action_type: 'human_verification', ttl_seconds: 60 }),
  ]
  const phone = openBrowser(world)
  await phone.visit(pathOf(declined))
  expect((await phone.submit({}, `${pathOf(declined)}/decline`)).text).toContain('You declined')
  expect(await statusOf(agent, declined)).toMatchObject({ status: 'declined' })
  await phone.visit(pathOf(expired))
  await world.tick(61)

  expect(await phone.submit({}, `${pathOf(expired)}/open`)).toMatchObject({ status: 410 })
  expect((await phone.visit(pathOf(expired))).text).toContain('This link has expired')
  for (const token of ['A'.repeat(43), 'short', `${'A'.repeat(43)}/open`]) {
    expect((await phone.visit(`/web/action/${token}`)).status, token).toBe(404)
  }
})

test('a form that another site sends opens nothing', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'deposit' })
  const phone = openBrowser(world)
  await phone.visit(pathOf(link))
  const form = phone.cookies.get('__Host-aoa_form') ?? ''
  const type = { 'content-type': 'application/x-www-form-urlencoded' }

  for (const headers of [{ ...type, origin: 'https://evil.example' }, type]) {
    const init = { method: 'POST', headers, body: new URLSearchParams({ form }).toString() }
    expect(await phone.send(`${pathOf(link)}/open`, init)).toMatchObject({ status: 403 })
  }
  expect(await statusOf(agent, link)).toMatchObject({ status: 'pending' })
})

test('a login link leads a visitor to sign in, and the owner straight into the app', async () => {
  const agent = await world.agent('read')
  const [asVisitor, asOwner, asStranger] = [
    await linkOf(agent, { action_type: 'login' }),
    await linkOf(agent, { action_type: 'login' }),
    await linkOf(agent, { action_type: 'login' }),
  ]
  const visitor = openBrowser(world)
  await visitor.visit(pathOf(asVisitor))
  const sent = await visitor.submit({}, `${pathOf(asVisitor)}/open`)
  expect(sent.path).toBe('/web/login?next=/web')
  expect(visitor.cookies.has('__Host-aoa_session')).toBe(false)
  expect(await statusOf(agent, asVisitor)).toMatchObject({ status: 'opened' })
  const stranger = await signedIn(world, await world.agent('read'))
  await stranger.visit(pathOf(asStranger))
  const refused = await stranger.submit({}, `${pathOf(asStranger)}/open`)
  expect(refused.text).toContain(`Sign in as the owner of ${agent.alias}`)

  const owner = await signedIn(world, agent)
  await owner.visit(pathOf(asOwner))
  const landed = await owner.submit({}, `${pathOf(asOwner)}/open`)

  expect(landed.path).toBe('/web')
  for (const link of [asVisitor, asOwner, asStranger]) {
    const status = await statusOf(agent, link)
    expect(status).toMatchObject({ status: 'finished', action_type: 'login' })
    expect(status).toHaveProperty('result.signed_in_at')
  }
})

test('a wallet is named in whatever case, and the page shows what came from it', async () => {
  const agent = await world.agent('read')
  const link = await linkOf(agent, { action_type: 'walletconnect', token: 'USDC' })
  const phone = openBrowser(world)
  await phone.visit(pathOf(link))
  const opened = await phone.submit({}, `${pathOf(link)}/open`)
  expect(opened.html).toContain(`data-to="${agent.address}"`)
  const wallet = newKey().at
  for (const wrong of ['', '0x12', `${wallet.slice(0, -1)}g`]) {
    expect(await phone.submit({ wallet: wrong }, `${pathOf(link)}/connect`)).toMatchObject({
      status: 400,
    })
    await phone.visit(pathOf(link))
  }
  await phone.submit({ wallet: wallet.toLowerCase() }, `${pathOf(link)}/connect`)
  await payAs(world, wallet, agent.address, 4_000_000n)
  await indexTransfers(world.world)

  const arrived = await phone.visit(pathOf(link))

  expect(arrived.text).toContain('4.00 USDC')
  expect(arrived.html).toContain(`data-copy="${wallet}"`)
  expect(arrived.html).toContain('/web/keep-wallet/')
})
