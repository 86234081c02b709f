/** The page of one login of the vault, which the owner reads, changes, lets take codes and deletes. */
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { activityRow } from '../../../shared/payments/show/activity.ts'
import type { ReadEntry } from '../../../shared/vault/entries/entries-port.ts'
import { Items } from '../activity/activity-lines.tsx'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Once } from '../keys/client-configs.tsx'
import { keyScripts } from '../keys/key-once.tsx'
import { Page, sendPage } from '../layout.tsx'
import { readSecurity } from '../session.ts'
import { Button, Checkbox, Form, LinkButton, ProofLink } from '../ui/form.tsx'
import { Empty, Facts, Notice, Section, Site, siteName, Time } from '../ui/show.tsx'
import type { PageContext, Routes } from '../visit.ts'
import { Holds, vaultOf } from './entry-lines.tsx'
import { FurtherFields, SecretFields, storeTyped, usernameShown } from './login-fields.tsx'
import { findEntry, type OwnerEntry } from './vault-data.ts'

const itemsShown = 10

/** Routes that show the login, change it, reveal its secrets and delete it. */
export const routes: Routes = (app) => {
  app.get('/vault/:entry{[0-9a-f-]+}', async (c) => showEntry(c, await findEntry(c)))
  app.post('/vault/:entry{[0-9a-f-]+}', changeEntry)
  app.post('/vault/:entry{[0-9a-f-]+}/shown', reveal)
  app.post('/vault/:entry{[0-9a-f-]+}/deleted', remove)
  app.post('/vault/:entry{[0-9a-f-]+}/codes', setTakesCodes)
}

async function changeEntry(c: PageContext): Promise<Response> {
  const { credential } = await requireOwner(c)
  const { listed } = await findEntry(c)
  const { site, username } = listed
  const form = await readFormFields(c)
  const version = Number(form.get('version') ?? '')
  const stored = await storeTyped(c, credential, form, { site, username, version })
  if (!isRefusal(stored)) return goTo(c, `/vault/${listed.credential_id}`)
  return showEntry(
    c,
    await findEntry(c),
    stored.message ?? 'The login has changed since you opened it. Check it again.',
  )
}

/** Reveals the secrets to an owner with a recent proof; the vault asks the database for that. */
async function reveal(c: PageContext): Promise<Response> {
  const { credential } = await requireOwner(c)
  const { listed } = await findEntry(c)
  const read = await vaultOf(c).read({ credential, entry: listed.credential_id })
  if (isRefusal(read)) throw new Rejection(read)
  if (read.secret) return showSecrets(c, listed, read.secret)
  const { reveal_refusal } = await readSecurity(c)
  throw new Rejection(fail(reveal_refusal ?? 'proof_required'))
}

async function setTakesCodes(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const { listed } = await findEntry(c)
  const takes = (await readFormFields(c)).get('wanted') === 'yes'
  await db.run('owner_set_takes_codes', { entry: listed.credential_id, takes })
  return goTo(c, `/vault/${listed.credential_id}`)
}

async function remove(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const { listed } = await findEntry(c)
  if ((await readFormFields(c)).get('sure') !== 'yes')
    return goTo(c, `/vault/${listed.credential_id}`)
  await db.run('delete_vault_entry', { entry: listed.credential_id })
  return goTo(c, '/vault')
}

async function showEntry(c: PageContext, entry: OwnerEntry, problem?: string) {
  const me = await requireOwner(c)
  const { listed } = entry
  const question = { page: itemsShown, words: '', of_entry: listed.credential_id }
  const items = await me.db.many('owner_search_activity', question, activityRow)
  const { reveal_refusal } = await readSecurity(c)
  return sendPage(
    c,
    <Page
      c={c}
      title={siteName(listed.site)}
      owner={me}
      back={{ to: '/vault', label: 'Vault' }}
      lead={usernameShown(listed)}
    >
      {problem && (
        <Notice kind="danger" title="Nothing has changed">
          {problem}
        </Notice>
      )}
      <WhatItIs entry={entry} />
      <Section title="Where its secrets go">
        <p>Into sign-in forms and agent requests, once you have approved the destination.</p>
        <p class="actions">
          <LinkButton to={`/vault/${listed.credential_id}/destinations`}>
            See its destinations
          </LinkButton>
        </p>
      </Section>
      <MailedCodes c={c} entry={listed} />
      <Reveal c={c} entry={listed} />
      <Section title="Activity of this login">
        {items.length > 0 ? <Items rows={items} /> : <Empty>Nothing yet.</Empty>}
      </Section>
      {reveal_refusal === null ? (
        <>
          <ChangeForm c={c} entry={listed} />
          <DeleteForm c={c} entry={listed} />
        </>
      ) : (
        <Section title="Change or delete it">
          <p>First confirm again that it’s you.</p>
          <ProofLink c={c} label="Confirm it’s you" />
        </Section>
      )}
    </Page>,
    problem === undefined ? 200 : 422,
  )
}

function WhatItIs({ entry: { listed, maker, asker } }: { entry: OwnerEntry }) {
  const { created_at, updated_at, last_used_at } = listed
  return (
    <Section title="What it is">
      <Facts
        facts={[
          ['Site', <Site origin={listed.site} />],
          ['User name', usernameShown(listed) || 'None'],
          ['Holds', <Holds entry={listed} />],
          ['Added by', maker ?? 'You'],
          ...(asker === null ? [] : [['Asked for by', asker] as const]),
          ['Added', <Time at={created_at} />],
          ...(listed.version > 1 ? [['Changed', <Time at={updated_at} />] as const] : []),
          ['Last used', last_used_at === null ? 'Never' : <Time at={last_used_at} />],
        ]}
      />
    </Section>
  )
}

type Part = { c: PageContext; entry: OwnerEntry['listed'] }

function MailedCodes({ c, entry }: Part) {
  const { hostname } = new URL(entry.site)
  return (
    <Section title="Codes from mail">
      <p>
        {entry.takes_codes
          ? `Codes in mail from ${hostname} can be used with it, and so can codes in mail from the same sender that links to ${hostname}.`
          : `Codes from mail cannot be used with it. Allow them only if you sign in at ${hostname} yourself: an agent that has its own account there could read a code that it sends there.`}
      </p>
      <Form c={c} action={`/vault/${entry.credential_id}/codes`}>
        <input type="hidden" name="wanted" value={entry.takes_codes ? 'no' : 'yes'} />
        <div class="actions">
          <Button kind="plain">{entry.takes_codes ? 'Stop using codes' : 'Allow codes'}</Button>
        </div>
      </Form>
    </Section>
  )
}

function Reveal({ c, entry }: Part) {
  return (
    <Section title="See its secrets">
      <p>To see them, confirm again that it’s you. The activity records it.</p>
      <Form c={c} action={`/vault/${entry.credential_id}/shown`}>
        <div class="actions">
          <Button kind="plain">Show the secrets</Button>
        </div>
      </Form>
    </Section>
  )
}

function ChangeForm({ c, entry }: Part) {
  return (
    <Section title="Change it">
      <p>
        The site and user name cannot be changed: add another login instead. Once you have changed a
        login, no key can change or delete it.
      </p>
      <Form c={c} action={`/vault/${entry.credential_id}`}>
        <input type="hidden" name="version" value={String(entry.version)} />
        <SecretFields kept={entry} />
        <FurtherFields kept={entry} />
        <div class="actions">
          <Button>Change the login</Button>
        </div>
      </Form>
    </Section>
  )
}

function DeleteForm({ c, entry }: Part) {
  return (
    <Section title="Delete it">
      <p>No agent can use it from then on. Your account at the site is not touched.</p>
      <Form c={c} action={`/vault/${entry.credential_id}/deleted`}>
        <Checkbox name="sure" label="Delete it for good" />
        <div class="actions">
          <Button kind="danger">Delete the login</Button>
        </div>
      </Form>
    </Section>
  )
}

type Secret = NonNullable<ReadEntry['secret']>

/** Shows each secret, to be copied. */
async function showSecrets(c: PageContext, entry: OwnerEntry['listed'], secret: Secret) {
  return sendPage(
    c,
    <Page
      c={c}
      title={`Secrets for ${siteName(entry.site)}`}
      owner={await requireOwner(c)}
      back={{ to: `/vault/${entry.credential_id}`, label: 'The login' }}
      lead={usernameShown(entry)}
      scripts={keyScripts}
    >
      {secretParts(secret).map(([title, text]) => (
        <Section title={title}>
          <Once text={text} />
        </Section>
      ))}
    </Page>,
  )
}

function secretParts(secret: Secret) {
  const { password, previous_passwords = [], totp, notes, fields = {} } = secret
  const parts: [title: string, text: string | undefined][] = [
    ['Password', password],
    [`One-time code, valid for ${totp?.seconds_left ?? 0} seconds`, totp?.code],
    ...Object.entries(fields),
    ['Notes', notes],
    ...previous_passwords.map((one): [string, string] => ['An earlier password', one]),
  ]
  return parts.flatMap(([title, text]) => (text === undefined ? [] : [[title, text] as const]))
}
