/** The page on which the owner secures the account, and afterwards makes again what should stay. */
import type { Child } from 'hono/jsx'
import { problemWith } from '../../../shared/auth/own-secrets.ts'
import { passwordProblems } from '../../../shared/auth/password.ts'
import { type EndedItem, readSecured, secureAccount } from '../../../shared/auth/secure-account.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { lifeDaysDefault } from '../keys/keys-data.tsx'
import { Page, sendPage } from '../layout.tsx'
import { enterSession, ownerSessionOf, readSecurity } from '../session.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Button, Form, LinkButton, Username } from '../ui/form.tsx'
import { Badge, Empty, Section, Table, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'

const path = '/secure'
const title = 'Secure my account'
const security = { to: '/security', label: 'Security' }

/** Routes that show what ends, end it, and list it for the owner to make again. */
export const routes: Routes = (app) => {
  app.get(path, (c) => showSecure(c))
  app.get(`${path}/done`, showSecured)
  app.post(path, secure)
}

async function showSecure(c: PageContext, error?: string) {
  const me = await requireOwner(c)
  const { ends, secured_at } = await readSecured(me)
  const { has_password, email } = await readSecurity(c)
  return sendPage(
    c,
    <Page
      c={c}
      title={title}
      owner={me}
      back={security}
      lead="Ends everything that could let somebody else in or pay. Afterwards, set up again what you need."
      scripts={['sign-up']}
    >
      <Section title="What happens">
        <WhatHappens />
        <EndingItems items={ends} />
      </Section>
      <Form c={c}>
        {has_password && (
          <Section title="Your new password">
            <p>Somebody may know your current one.</p>
            <Username value={email} />
            <NewPassword {...(error === undefined ? {} : { error })} />
          </Section>
        )}
        <div class="actions">
          <Button kind="danger">Secure my account</Button>
        </div>
      </Form>
      {secured_at !== null && (
        <p>
          Last done <Time at={secured_at} isInSentence />.{' '}
          <a href={`${webAppPath}${path}/done`}>See what ended then</a>
        </p>
      )}
    </Page>,
    error === undefined ? 200 : 422,
  )
}

function WhatHappens() {
  return (
    <ul class="points">
      <li>The account is frozen, until you unfreeze it.</li>
      <li>
        All keys, apps, mandates, links and waiting requests end, and every session but this one.
      </li>
      <li>
        Your recovery codes are void. Passkeys are removed, except the one that you confirmed with.
      </li>
      <li>
        Limits become those of a new account, unless yours are lower. No recipient, device or
        destination of a secret stays approved.
      </li>
      <li>Your money, emails and logins stay. What was paid stays paid.</li>
    </ul>
  )
}

async function secure(c: PageContext) {
  const form = await readFormFields(c)
  const session = await ownerSessionOf(c)
  const { has_password, email } = await readSecurity(c)
  const password = has_password ? (form.get('password') ?? '') : undefined
  const problem = password === undefined ? undefined : await problemWith(session, password, email)
  if (problem) return showSecure(c, passwordProblems[problem])
  const token = await secureAccount(session, password)
  return enterSession(c, token ?? '', `${path}/done`)
}

async function showSecured(c: PageContext) {
  const me = await requireOwner(c)
  const { ends, secured_at, ended } = await readSecured(me)
  if (secured_at === null) return goTo(c, path)
  const { recovery_codes_left, passkeys } = await readSecurity(c)
  return sendPage(
    c,
    <Page
      c={c}
      title="Your account is secured"
      owner={me}
      back={security}
      lead={
        <>
          Since <Time at={secured_at} isInSentence />, only this session and the way you signed in
          still work.
        </>
      }
    >
      <Section title="Next">
        <ul class="points">
          {recovery_codes_left === 0 && (
            <li>
              <a href={`${webAppPath}/security/recovery-codes`}>Make new recovery codes</a>
            </li>
          )}
          {passkeys.length === 0 && (
            <li>
              <a href={`${webAppPath}/security/passkeys`}>Add a passkey</a>: with one, a password
              alone changes nothing in your account.
            </li>
          )}
          <li>
            Look through the <a href={`${webAppPath}/activity`}>activity</a> and the logins in your{' '}
            <a href={`${webAppPath}/vault`}>vault</a>. Delete logins that you did not store.
          </li>
        </ul>
        <p class="actions">
          {me.account.isFrozen && <LinkButton to="/freeze">Unfreeze the account</LinkButton>}
        </p>
      </Section>
      <EndedItems c={c} items={ended ?? []} standing={ends} />
    </Page>,
  )
}

const kinds: Record<EndedItem['kind'], string> = {
  api_key: 'API key',
  oauth: 'Connected app',
  mandate: 'Mandate',
  recipient: 'Trusted recipient',
  limit: 'Raised limit',
  passkey: 'Passkey',
  destination: 'Destination of a secret',
  push_device: 'Browser that receives notifications',
}

const columns = [
  { label: 'What', cell: ({ kind }: EndedItem) => kinds[kind] },
  { label: 'Name', cell: ({ name }: EndedItem) => name },
]

/** Lists what would end now. */
function EndingItems({ items }: { items: readonly EndedItem[] }) {
  if (items.length === 0) return null
  return <Table caption="What ends" columns={columns} rows={[...items]} />
}

type EndedItemsProps = {
  c: PageContext
  items: readonly EndedItem[]
  /** Items of the account now; what stands there again is done. */
  standing: readonly EndedItem[]
}

/** Lists what ended, each with the form or the page that makes it again. */
function EndedItems({ c, items, standing }: EndedItemsProps) {
  const isBack = ({ kind, name }: EndedItem) =>
    standing.some((other) => other.kind === kind && other.name === name)
  const again = {
    label: 'Set up again',
    cell: (item: EndedItem) =>
      isBack(item) ? <Badge kind="good">Done</Badge> : <Again c={c} item={item} />,
  }
  return (
    <Section title="What ended">
      {items.length === 0 ? (
        <Empty>There were no keys, apps, mandates or recipients.</Empty>
      ) : (
        <Table caption="What ended" columns={[...columns, again]} rows={[...items]} />
      )}
    </Section>
  )
}

function Again({ c, item }: { c: PageContext; item: EndedItem }) {
  const { kind, id, name } = item
  switch (kind) {
    case 'api_key':
      return (
        <Press c={c} action="/keys" fields={keyFields(item)}>
          New key<span class="unseen"> for {name}</span>
        </Press>
      )
    case 'recipient':
      return (
        <Press c={c} action={`/recipients/add/${id}`} fields={{ address: id }}>
          Add<span class="unseen"> {name}</span>
        </Press>
      )
    case 'limit':
      return (
        <Press c={c} action="/limits" fields={{ limit: id, [`usd_${id}`]: item.usd ?? '' }}>
          Raise to {item.usd} USD
        </Press>
      )
    case 'passkey':
      return <LinkButton to="/security/passkeys">Add a passkey</LinkButton>
    case 'push_device':
      return <LinkButton to="/notifications">Notifications</LinkButton>
    case 'destination':
      return <LinkButton to={`/vault/${id}`}>See the login</LinkButton>
    case 'oauth':
      return 'Connect it again from the app.'
    case 'mandate':
      return 'Your agent asks for it again.'
  }
}

function keyFields({ name, scope, usd_per_payment, usd_per_day }: EndedItem) {
  const caps = { each: usd_per_payment ?? '', day: usd_per_day ?? '' }
  return { label: name, scope: scope ?? 'read', days: lifeDaysDefault, ...caps }
}

type PressProps = {
  c: PageContext
  action: string
  fields: Readonly<Record<string, string>>
  children: Child
}

function Press({ c, action, fields, children }: PressProps) {
  return (
    <Form c={c} action={action}>
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Button kind="plain">{children}</Button>
    </Form>
  )
}
