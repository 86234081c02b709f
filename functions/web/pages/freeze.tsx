import { accountUnfrozen } from '../../../shared/mail/money-messages.ts'
import type { freezeAccount } from '../../../shared/payments/freeze.ts'
import { freezeAccount as freeze } from '../../../shared/payments/freeze.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { browserOf, noticeOf } from '../own-session.ts'
import { Button, Form, LinkButton } from '../parts/form.tsx'
import { Address, Money, Notice, Section, Table } from '../parts/show.tsx'
import type { Owner, Routes, Visit } from '../visit.ts'
import { pagesBelow } from '../visit.ts'

type Frozen = Awaited<ReturnType<typeof freezeAccount>>

export const routes: Routes = (app) => {
  app.get('/freeze', async (c) => {
    const me = await owner(c)
    return show(c, me.account.isFrozen ? <Unfreeze c={c} me={me} /> : <Freeze c={c} me={me} />)
  })

  app.post('/freeze', async (c) => {
    const { db, credential } = await owner(c)
    const given = await fields(c)
    if (given.get('wanted') === 'unfrozen') {
      await db.run('owner_unfreeze', { mail: await noticeOf(c, accountUnfrozen) })
      return goTo(c, '/freeze')
    }
    const world = c.get('world')
    const requestId = c.get('requestId')
    const { client } = browserOf(c)
    const cursor = /^[0-9]{1,15}$/.exec(given.get('cursor') ?? '')?.[0]
    const frozen = await freeze({ world, db, credential, requestId, client }, { cursor })
    return show(c, <Stopped c={c} me={await again(c)} frozen={frozen} />)
  })
}

/** The owner as the account stands after the change. */
async function again(c: Visit): Promise<Owner> {
  const me = await owner(c)
  return { ...me, account: { ...me.account, isFrozen: true } }
}

function Freeze({ c, me }: { c: Visit; me: Owner }) {
  return (
    <Page c={c} title="Freeze the account" owner={me} lead="One click stops all payments at once.">
      <Section title="What happens">
        <ul class="points">
          <li>No agent or app can pay, whatever it holds, until you unfreeze the account.</li>
          <li>No agent can use a login of the vault, read one or send mail.</li>
          <li>Payments that are prepared and not sent are released.</li>
          <li>Payments that are on their way are cancelled where that is still possible.</li>
          <li>Agents can still read. Your balances stay where they are.</li>
        </ul>
        <Form c={c}>
          <input type="hidden" name="wanted" value="frozen" />
          <div class="actions">
            <Button kind="danger">Freeze now</Button>
          </div>
        </Form>
      </Section>
    </Page>
  )
}

function Unfreeze({ c, me }: { c: Visit; me: Owner }) {
  return (
    <Page c={c} title="The account is frozen" owner={me} lead="Nothing is paid.">
      <Section title="Before you unfreeze">
        <ul class="points">
          <li>
            If somebody else was in your account,{' '}
            <a href={`${pagesBelow}/not-me`}>end what was made since</a> first.
          </li>
          <li>
            Revoke every key that you do not trust, under{' '}
            <a href={`${pagesBelow}/keys`}>API keys</a>, and disconnect every such app, under{' '}
            <a href={`${pagesBelow}/apps`}>Connected apps</a>.
          </li>
          <li>
            Look through <a href={`${pagesBelow}/approvals`}>what waits for you</a>: what you
            approved before can be sent again once the account is not frozen.
          </li>
        </ul>
        <p>
          After that, agents can pay again at once, within your{' '}
          <a href={`${pagesBelow}/limits`}>limits</a>. What was released or cancelled stays so.
        </p>
        <Form c={c}>
          <input type="hidden" name="wanted" value="unfrozen" />
          <div class="actions">
            <Button>Unfreeze</Button>
          </div>
        </Form>
      </Section>
      <Section title="Payments on their way">
        <p>If a payment could not be cancelled before, freezing again tries once more.</p>
        <Form c={c}>
          <input type="hidden" name="wanted" value="frozen" />
          <div class="actions">
            <Button kind="plain">Freeze again</Button>
          </div>
        </Form>
      </Section>
    </Page>
  )
}

/** What was stopped and what cannot be, as it was answered to the click. */
function Stopped({ c, me, frozen }: { c: Visit; me: Owner; frozen: Frozen }) {
  const { cancelling, cannot_be_stopped, ended, next_cursor: next } = frozen
  const open = [...cannot_be_stopped, ...cancelling, ...ended]
  return (
    <Page c={c} title="The account is frozen" owner={me} lead="Nothing new is paid.">
      {open.length === 0 ? (
        <Notice kind="good">Nothing was on its way. Everything is stopped.</Notice>
      ) : (
        <Section title="On their way when you froze it">
          <Table
            caption="Payments that may still settle"
            rows={open}
            columns={[
              {
                label: 'Amount',
                cell: ({ amount, token }) => <Money amount={amount} unit={token} />,
              },
              { label: 'To', cell: ({ payee }) => <Address value={payee} /> },
              { label: 'What happens', cell: ({ message }) => message },
            ]}
          />
          {next !== null && (
            <Form c={c}>
              <input type="hidden" name="wanted" value="frozen" />
              <input type="hidden" name="cursor" value={next} />
              <div class="actions">
                <Button kind="plain">Show more</Button>
              </div>
            </Form>
          )}
        </Section>
      )}
      <p class="actions">
        <LinkButton to="/freeze">Continue</LinkButton>
      </p>
    </Page>
  )
}
