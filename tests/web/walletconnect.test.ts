/** WalletConnect is offered only with a project, and only its page may reach the relay. */
import { expect, test } from 'vitest'
import { openBrowser } from '../support/browserless.ts'
import { linkOf } from '../support/links.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })
const agent = await world.agent('read')
const relay = 'wss://relay.example'

/** Opens a link in an app that is configured with a project or with none. Returns its page. */
async function openedWith(project: string | undefined, action_type = 'walletconnect') {
  const bound = { WALLETCONNECT_PROJECT_ID: project, WALLETCONNECT_RELAY_URL: `${relay}/v2` }
  const config = { ...world.world.config, ...bound }
  const phone = openBrowser({ world: { ...world.world, config } })
  const { pathname } = new URL((await linkOf(agent, { action_type })).url)
  const offered = await phone.visit(pathname)
  const opened = await phone.submit({}, `${pathname}/open`)
  return { offered, opened }
}

const allowed = ({ headers }: { headers: Headers }) => headers.get('content-security-policy')

test.each([undefined, ''])(
  'without a project (%s) no page knows of WalletConnect',
  async (none) => {
    const { offered, opened } = await openedWith(none)

    expect(opened.text).toContain('Choose a wallet')
    for (const page of [offered, opened]) {
      expect(page.html).not.toMatch(/WalletConnect|data-walletconnect|pairing/)
      expect(allowed(page)).toContain("connect-src 'self';")
    }
  },
)

test('with a project the one page that sends from a wallet may reach the relay', async () => {
  const { offered, opened } = await openedWith('our-project')
  const deposit = await openedWith('our-project', 'deposit')

  expect(opened.html).toContain('data-project="our-project"')
  expect(allowed(opened)).toContain(`connect-src 'self' ${relay};`)
  for (const page of [offered, deposit.offered, deposit.opened]) {
    expect(allowed(page)).toContain("connect-src 'self';")
    expect(page.html).not.toContain('our-project')
  }
})

test('beyond the relay the page is held as every other', async () => {
  const { offered, opened } = await openedWith('our-project')

  expect(allowed(opened)?.replace(` ${relay}`, '')).toBe(allowed(offered))
})
