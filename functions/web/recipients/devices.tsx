/** Known devices, as the pages about them list them, and the form that forgets one. */
import * as z from 'zod'
import { time } from '../../../shared/money/row-fields.ts'
import { Button, Checkbox, Form } from '../ui/form.tsx'
import { Empty, Section, Table, Time } from '../ui/show.tsx'
import type { PageContext } from '../visit.ts'

/** Row of a device, with the key or app that pays from it. */
export const deviceRow = z.object({
  key: z.uuid(),
  fingerprint: z.string(),
  label: z.string(),
  shown: z.string(),
  known_since: time,
})
type Device = z.output<typeof deviceRow>

/** Lists devices with their keys, each with a button that forgets it. */
export function Devices({ c, devices }: { c: PageContext; devices: Device[] }) {
  return (
    <Section title="Trusted devices">
      {devices.length === 0 ? (
        <Empty>None yet. You can trust a device when you approve a payment from it.</Empty>
      ) : (
        <Table
          caption="Trusted devices, newest first"
          rows={devices}
          columns={[
            { label: 'Key', cell: ({ label, shown }) => `${label} (${shown})` },
            { label: 'Device', cell: ({ fingerprint }) => <code>{fingerprint.slice(0, 8)}</code> },
            { label: 'Trusted since', cell: ({ known_since }) => <Time at={known_since} /> },
            {
              label: 'Change',
              cell: ({ key, fingerprint }) => (
                <Remove
                  c={c}
                  name="device"
                  value={`${key} ${fingerprint}`}
                  what={`device ${fingerprint.slice(0, 8)}`}
                />
              ),
            },
          ]}
        />
      )}
    </Section>
  )
}

type Removal = { c: PageContext; name: string; value: string; what: string }

/** Renders the form that removes a recipient or a device and leads back to this page. */
export function Remove({ c, name, value, what }: Removal) {
  return (
    <Form c={c} action="/recipients">
      <input type="hidden" name="back" value={c.req.path} />
      {name === 'address' && <Checkbox name="sure" label="Remove it" />}
      <Button kind="plain" name={name} value={value}>
        Remove<span class="unseen"> {what}</span>
      </Button>
    </Form>
  )
}
