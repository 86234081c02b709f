/** The frame of every page: head, navigation, title. */
import { html } from 'hono/html'
import type { Child, PropsWithChildren } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Config } from '../../shared/env.ts'
import { type Asset, assetPath } from './asset.ts'
import { Button, Form, takeDone } from './ui/form.tsx'
import { Badge, Notice, Time } from './ui/show.tsx'
import { ReaderContext, readerOf } from './ui/zone.ts'
import { type Owner, type PageContext, webAppPath } from './visit.ts'

type PageProps = PropsWithChildren<{
  c: PageContext
  title: string
  /** Owner whose navigation the page shows; without one the page stands alone. */
  owner?: Owner
  /** True for a page of one decision: it has no navigation, and its buttons stay in sight. */
  isDecision?: boolean
  /** Sentence below the title. */
  lead?: Child
  /** Page above this one; `to` is a path below the app. */
  back?: { to: string; label: string }
  /** Main link or button of the page, beside the title. */
  action?: Child
  /** Scripts of functions/web/client that the page uses; it works without them. */
  scripts?: readonly Asset[]
  /** Seconds after which a page that waits for an event reloads in a browser without scripts. */
  refreshSeconds?: number
}>

/** Sends a page as HTML. */
export function sendPage(c: PageContext, page: Child, status: ContentfulStatusCode = 200) {
  return c.html(html`<!doctype html>${page}`, status)
}

/** Renders a whole page, with its times on the clock of its reader. */
export function Page(props: PageProps) {
  return (
    <ReaderContext.Provider value={readerOf(props.c)}>
      <Document {...props} />
    </ReaderContext.Provider>
  )
}

function Document(props: PageProps) {
  const { c, title, owner, isDecision = false, scripts = [], refreshSeconds, children } = props
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {refreshSeconds && (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshSeconds)} />
          </noscript>
        )}
        <title>
          {`${countOf(owner)}${title} · ${owner?.account.alias ?? 'Agent Operating Account'}`}
        </title>
        <link rel="manifest" href={`${webAppPath}/manifest.webmanifest`} />
        <link rel="icon" href={assetPath('icon')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetPath('style')} />
        {(['zone', ...scripts] as const).map((name) => (
          <script type="module" src={assetPath(name)} />
        ))}
      </head>
      <body class={owner && !isDecision ? 'app' : undefined}>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header>
          <a class="brand" href={webAppPath}>
            <img src={assetPath('icon')} alt="" />
            Agent Operating Account
          </a>
          {owner && !isDecision && <Menu c={c} owner={owner} above={props.back?.to} />}
        </header>
        <main id="content" class={isDecision ? 'alone decision' : owner ? undefined : 'alone'}>
          <Title {...props} />
          {owner && <HoldNotice c={c} owner={owner} />}
          <DoneNotice c={c} />
          {children}
        </main>
      </body>
    </html>
  )
}

/** Returns the number of requests that wait for the owner, as a tab of the browser shows it. */
function countOf(owner: Owner | undefined): string {
  const count = owner ? owner.waiting.payments + owner.waiting.mandates : 0
  return count === 0 ? '' : `(${count}) `
}

function Title({ title, lead, back, action }: PageProps) {
  return (
    <div class="title">
      <div>
        {back && (
          <a class="back" href={webAppPath + back.to}>
            {back.label}
          </a>
        )}
        <h1>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {action}
    </div>
  )
}

/** Shows on every page but its own that the account is on hold. */
function HoldNotice({ c, owner: { account } }: { c: PageContext; owner: Owner }) {
  const { holdUntil } = account
  if (holdUntil === null || c.req.path === `${webAppPath}/hold`) return null
  return (
    <Notice kind="warning" title="The account is on hold">
      Until <Time at={holdUntil} isInSentence /> nobody can approve payments, raise limits, see
      secrets, or end keys and apps. <a href={`${webAppPath}/hold`}>Review or end the hold</a>
    </Notice>
  )
}

/** Tells what the form before did, and offers to take it back where that is possible. */
function DoneNotice({ c }: { c: PageContext }) {
  const done = takeDone(c)
  if (!done) return null
  const { words, isDone, undo } = done
  return (
    <Notice kind={isDone ? 'good' : 'info'}>
      {words}
      {undo && (
        <Form c={c} action={undo.action} class="undo">
          {Object.entries(undo.fields).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <Button kind="plain">Undo</Button>
        </Form>
      )}
    </Notice>
  )
}

/** Renders the navigation: on a narrow screen a popover, which needs no script, else always visible. */
function Menu({ c, owner, above }: { c: PageContext; owner: Owner; above: string | undefined }) {
  return (
    <>
      <button type="button" class="open-menu" popovertarget="menu">
        Menu
      </button>
      <nav id="menu" popover="auto" aria-label="Main">
        {nav.map((group) => (
          <NavGroup c={c} group={group} owner={owner} above={above} />
        ))}
        <p class="who">
          <strong>{owner.account.alias}</strong>
          <span class="quiet">{owner.account.mailAddress}</span>
        </p>
        <Form c={c} action="/logout">
          <Button kind="plain">Sign out</Button>
        </Form>
      </nav>
    </>
  )
}

type NavGroupProps = {
  c: PageContext
  group: (typeof nav)[number]
  owner: Owner
  above: string | undefined
}

function NavGroup({ c, group: { title, entries }, owner, above }: NavGroupProps) {
  const { config } = c.get('world')
  const offered = entries.filter(({ isOffered }) => isOffered?.(config) ?? true)
  return (
    <>
      {title && <h2>{title}</h2>}
      <ul>
        {offered.map(({ path, label, icon, waiting }) => (
          <li>
            <a
              class={`icon-${icon}`}
              href={webAppPath + path}
              aria-current={whereIs(c, path, above)}
            >
              {label}
              {waiting && <Waiting count={owner.waiting[waiting]} />}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Waiting({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <>
      {' '}
      <Badge kind="warning">
        {count}
        <span class="unseen"> for you to decide</span>
      </Badge>
    </>
  )
}

/** Marks the current page, or the entry that it is below. */
function whereIs(c: PageContext, path: string, above: string | undefined) {
  const here = webAppPath + path
  if (c.req.path === here) return 'page'
  const isBelow = path !== '' && c.req.path.startsWith(`${here}/`)
  return isBelow || path === above ? 'true' : undefined
}

type NavEntry = {
  path: string
  label: string
  /** Name of its icon in style.css. */
  icon: string
  /** Requests whose number stands beside it. */
  waiting?: keyof Owner['waiting']
  isOffered?: (config: Config) => boolean
}

/** Groups of the navigation with their entries, in their order. */
const nav: readonly { title?: string; entries: readonly NavEntry[] }[] = [
  { entries: [{ path: '', label: 'Overview', icon: 'overview' }] },
  {
    title: 'Money',
    entries: [
      { path: '/activity', label: 'Activity', icon: 'activity' },
      { path: '/spending', label: 'Spending', icon: 'spending' },
      { path: '/send', label: 'Send', icon: 'send' },
      { path: '/deposit', label: 'Deposit', icon: 'deposit' },
      {
        path: '/yield',
        label: 'Yield',
        icon: 'yield',
        isOffered: ({ YIELD_VAULTS }) => YIELD_VAULTS !== '{}',
      },
    ],
  },
  {
    title: 'Agents',
    entries: [
      { path: '/approvals', label: 'Approvals', icon: 'approvals', waiting: 'payments' },
      { path: '/mandates', label: 'Mandates', icon: 'mandates', waiting: 'mandates' },
      { path: '/limits', label: 'Limits', icon: 'limits' },
      { path: '/keys', label: 'API keys', icon: 'keys' },
      { path: '/apps', label: 'Connected apps', icon: 'apps' },
      { path: '/recipients', label: 'Recipients and devices', icon: 'recipients' },
    ],
  },
  {
    title: 'Secrets',
    entries: [
      { path: '/vault', label: 'Vault', icon: 'vault' },
      { path: '/mail', label: 'Mail', icon: 'mail' },
    ],
  },
  {
    title: 'Account',
    entries: [
      { path: '/notifications', label: 'Notifications', icon: 'notifications' },
      { path: '/security', label: 'Security', icon: 'security' },
      { path: '/freeze', label: 'Freeze', icon: 'freeze' },
    ],
  },
]
