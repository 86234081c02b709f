/** The page on which the owner chooses what to be told of, by mail and on which browsers. */
import * as z from 'zod'
import { decodeBytes } from '../../../shared/base64.ts'
import { checkUrl } from '../../../shared/egress/safe-fetch.ts'
import type { Config } from '../../../shared/env.ts'
import { newPushDevice, notificationTest } from '../../../shared/mail/access-messages.ts'
import { browserName } from '../../../shared/mail/browser-name.ts'
import { sealForOutbox } from '../../../shared/mail/outbox.ts'
import { importPublicKey } from '../../../shared/mail/push.ts'
import { time } from '../../../shared/money/row-fields.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { browserOf, readSecurity, sealOwnerNotice } from '../session.ts'
import { Button, Checkbox, Form, ProofLink } from '../ui/form.tsx'
import { Empty, Notice, Section, SendAgain, Table, Time } from '../ui/show.tsx'
import {
  markFormDraft,
  type Owner,
  type PageContext,
  type Routes,
  takeFormDraft,
  webAppPath,
} from '../visit.ts'

const path = '/notifications'

/** Routes that show the choices and change them. */
export const routes: Routes = (app) => {
  app.get(path, async (c) =>
    showNotifications(c, undefined, takeFormDraft(c, await requireOwner(c))),
  )
  app.post(path, async (c) => {
    const form = await readFormFields(c)
    if (form.get('wanted') === 'chosen') markFormDraft(c, form)
    const problem = await changeNotifications(c, form)
    return problem === undefined ? goTo(c, path) : showNotifications(c, problem)
  })
}

const notAdded = 'This browser gave no address for notifications. Try another browser.'
const tooMany = 'Ten browsers receive notifications, the maximum. Remove one first.'

/** Makes a change; returns the reason if nothing was changed. */
async function changeNotifications(
  c: PageContext,
  form: URLSearchParams,
): Promise<string | undefined> {
  const { db } = await requireOwner(c)
  const world = c.get('world')
  switch (form.get('wanted') ?? '') {
    case 'chosen':
      await db.run('owner_set_muted', { muted: mutedIn(form) })
      return undefined
    case 'removed': {
      const device = z.uuid().safeParse(form.get('device'))
      if (device.data) await db.run('owner_remove_push_device', { device: device.data })
      return undefined
    }
    case 'tested': {
      const mail = await sealForOutbox(world, notificationTest(world.config.WEB_URL))
      await db.run('owner_test_push', { mail })
      return undefined
    }
    default:
      return addDevice(c, form)
  }
}

async function addDevice(c: PageContext, form: URLSearchParams): Promise<string | undefined> {
  const { db } = await requireOwner(c)
  const { config } = c.get('world')
  const subscription = config.VAPID_PUBLIC_KEY !== '' && (await subscriptionIn(form, config))
  if (!subscription) return notAdded
  const mail = await sealOwnerNotice(c, newPushDevice)
  const label = browserName(browserOf(c).userAgent)
  const added = await db.one('owner_add_push_device', { ...subscription, label, mail }, addedRow)
  return added?.added ? undefined : tooMany
}

const addedRow = z.object({ added: z.boolean() })

async function showNotifications(c: PageContext, problem?: string, typed?: URLSearchParams) {
  const me = await requireOwner(c)
  const { muted, devices } = await readChoices(me)
  const key = c.get('world').config.VAPID_PUBLIC_KEY
  c.set('loadsWorker', true)
  return sendPage(
    c,
    <Page
      c={c}
      title="Notifications"
      owner={me}
      lead="Choose what you hear about, by email and as notifications in your browsers."
      scripts={['notifications']}
    >
      {problem && <Notice kind="danger">{problem}</Notice>}
      {typed && <SendAgain />}
      <ChoicesForm c={c} muted={typed ? mutedIn(typed) : muted} />
      <Section title="Browsers that show notifications">
        {key === '' && (
          <p>Notifications are off: the operator of this service has not set a key for them.</p>
        )}
        {devices.length === 0 ? <Empty>None yet.</Empty> : <Devices c={c} devices={devices} />}
        {devices.length > 0 && (
          <Form c={c}>
            <Button kind="plain" name="wanted" value="tested">
              Send a test
            </Button>
          </Form>
        )}
        {key !== '' && (
          <AddBrowserForm
            c={c}
            applicationKey={key}
            isProven={(await readSecurity(c)).refusal === null}
          />
        )}
      </Section>
    </Page>,
    problem === undefined ? 200 : 400,
  )
}

function ChoicesForm({ c, muted }: { c: PageContext; muted: readonly string[] }) {
  const labels = { mail: 'By email', push: 'As a notification' }
  return (
    <Section title="What you are notified about">
      <Form c={c}>
        {noticeKinds.map(({ kind, title, hint, ways }) => (
          <fieldset>
            <legend>{title}</legend>
            <p class="hint">{hint}</p>
            {ways.map((way) => (
              <Checkbox
                name={`${way}:${kind}`}
                label={labels[way]}
                checked={!muted.includes(`${way}:${kind}`)}
              />
            ))}
          </fieldset>
        ))}
        <div class="actions">
          <Button name="wanted" value="chosen">
            Save
          </Button>
        </div>
      </Form>
    </Section>
  )
}

function Devices({ c, devices }: Pick<NoticeChoices, 'devices'> & { c: PageContext }) {
  return (
    <Table
      caption="Browsers that show notifications"
      rows={devices}
      columns={[
        { label: 'Browser', cell: ({ label }) => label },
        { label: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          label: 'Change',
          cell: ({ id, label }) => (
            <Form c={c}>
              <input type="hidden" name="device" value={id} />
              <Button kind="danger" name="wanted" value="removed">
                Remove<span class="unseen"> {label}</span>
              </Button>
            </Form>
          ),
        },
      ]}
    />
  )
}

type AddFormProps = { c: PageContext; applicationKey: string; isProven: boolean }

/** Renders the button that adds this browser; it goes on to show notices when nobody is signed in. */
function AddBrowserForm({ c, applicationKey, isProven }: AddFormProps) {
  if (!isProven) return <ProofLink c={c} label="Confirm it’s you to add this browser" />
  return (
    <>
      <noscript>
        <p>Adding this browser needs JavaScript.</p>
      </noscript>
      <Form
        c={c}
        data-push-key={applicationKey}
        data-worker={`${webAppPath}/push-worker.js`}
        hidden
      >
        {['endpoint', 'p256dh', 'auth'].map((name) => (
          <input type="hidden" name={name} value="" />
        ))}
        <p>
          It shows the amount, payee and agent of a request, even when nobody is signed in. On an
          iPhone, first add this page to the home screen.
        </p>
        <p class="error" data-problem="" hidden>
          This browser blocks notifications. Allow them for this site in its settings.
        </p>
        <div class="actions">
          <Button name="wanted" value="added">
            Show notifications in this browser
          </Button>
        </div>
      </Form>
    </>
  )
}

const choicesRow = z.object({
  /** Notices that are left out, each as channel and kind. */
  muted: z.array(z.string()),
  devices: z.array(z.object({ id: z.uuid(), label: z.string(), created_at: time })),
})
/** Choices of the owner, with the browsers that receive pushes. */
type NoticeChoices = z.output<typeof choicesRow>

/** Reads the choices of the owner. */
async function readChoices({ db }: Owner): Promise<NoticeChoices> {
  const found = await db.one('owner_read_notifications', {}, choicesRow)
  return found ?? { muted: [], devices: [] }
}

/** Kinds of notices (private.notice_kind), with the ways that the owner may leave out. */
const noticeKinds = [
  {
    kind: 'approvals',
    title: 'Requests to approve',
    hint: 'Payments and mandates that wait for your decision.',
    ways: ['mail', 'push'],
  },
  {
    kind: 'logins',
    title: 'Logins in use',
    hint: 'A stored login is used at a new site, or a login is added through a link.',
    ways: ['mail', 'push'],
  },
  {
    kind: 'security',
    title: 'Security',
    hint: 'Sign-ins, keys, apps, limits and freezes. These emails are always sent.',
    ways: ['push'],
  },
] as const

/** Returns what the form leaves out: every choice that is not ticked. */
function mutedIn(form: URLSearchParams): string[] {
  const all = noticeKinds.flatMap(({ kind, ways }) => ways.map((way) => `${way}:${kind}`))
  return all.filter((choice) => !form.has(choice))
}

const subscription = z.object({
  endpoint: z.string().max(1000),
  p256dh: z
    .string()
    .regex(/^[A-Za-z0-9_-]{87}$/)
    .refine(isPublicKey),
  auth: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
})

/** Reads the subscription of a browser; undefined if it is invalid or its push service may not be reached. */
async function subscriptionIn(form: URLSearchParams, config: Config) {
  const { data } = await subscription.safeParseAsync(Object.fromEntries(form))
  return data && !('refused' in checkUrl(data.endpoint, config)) ? data : undefined
}

function isPublicKey(text: string): Promise<boolean> {
  return importPublicKey(decodeBytes(text) ?? new Uint8Array()).then(
    () => true,
    () => false,
  )
}
