/** The frame that every page is shown in. */
import { html } from 'hono/html'
import type { Child, PropsWithChildren } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Asset } from './asset.ts'
import { addressOf } from './asset.ts'
import { nav } from './nav.ts'
import { Button, Form } from './parts/form.tsx'
import type { Owner, Visit } from './visit.ts'
import { pagesBelow } from './visit.ts'

type PageProps = PropsWithChildren<{
  c: Visit
  title: string
  /** With an owner the page has the navigation of the app; without, it stands alone. */
  owner?: Owner
  /** One sentence below the title. */
  lead?: Child
  /** The page above this one, below the app. */
  back?: { to: string; label: string }
  /** What the page is left by most, beside the title. */
  action?: Child
  /** Scripts of functions/web/client that the page uses; it works without them. */
  scripts?: readonly Asset[]
  /** Of a page that waits for something to happen, and has no script to look for it. */
  refreshSeconds?: number
}>

/** Sends a page. */
export function show(c: Visit, page: Child, status: ContentfulStatusCode = 200) {
  return c.html(html`<!doctype html>${page}`, status)
}

export function Page(props: PageProps) {
  const { c, title, owner, scripts = [], refreshSeconds, children } = props
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
        <title>{`${title} · ${owner?.account.alias ?? 'Agent Operating Account'}`}</title>
        <link rel="icon" href={addressOf('icon')} type="image/svg+xml" />
        <link rel="stylesheet" href={addressOf('style')} />
        {scripts.map((name) => (
          <script type="module" src={addressOf(name)} />
        ))}
      </head>
      <body class={owner && 'app'}>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header>
          <a class="brand" href={pagesBelow}>
            <img src={addressOf('icon')} alt="" />
            Agent Operating Account
          </a>
          {owner && <Menu c={c} owner={owner} above={props.back?.to} />}
        </header>
        <main id="content" class={owner ? undefined : 'alone'}>
          <Title {...props} />
          {children}
        </main>
      </body>
    </html>
  )
}

function Title({ title, lead, back, action }: PageProps) {
  return (
    <div class="title">
      <div>
        {back && (
          <a class="back" href={pagesBelow + back.to}>
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

/** On a narrow screen the browser's own popover, which needs no script; else always there. */
function Menu({ c, owner, above }: { c: Visit; owner: Owner; above: string | undefined }) {
  return (
    <>
      <button type="button" class="open-menu" popovertarget="menu">
        Menu
      </button>
      <nav id="menu" popover="auto" aria-label="Main">
        <ul>
          {nav.map(({ path, label }) => (
            <li>
              <a href={pagesBelow + path} aria-current={whereIs(c, path, above)}>
                {label}
              </a>
            </li>
          ))}
        </ul>
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

/** Marks the page itself, or the one that it is below. */
function whereIs(c: Visit, path: string, above: string | undefined) {
  const here = pagesBelow + path
  if (c.req.path === here) return 'page'
  const isBelow = path !== '' && c.req.path.startsWith(`${here}/`)
  return isBelow || path === above ? 'true' : undefined
}
