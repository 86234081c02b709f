/** The most that could leave with each key by itself, which is what its thief could take. */
import * as z from 'zod'
import { exposureFacts, exposureRow } from '../../../shared/payments/show/exposure.ts'
import { exposureWithin } from '../../../shared/policy/exposure.ts'
import { Empty, Money, Section, Table, usdRoundedUp } from '../ui/show.tsx'

/** Row of a key or app with its exposure. */
export const keyExposureRow = z.object({
  key: z.string(),
  label: z.string(),
  shown: z.string(),
  exposure: exposureRow,
})
type KeyExposure = z.output<typeof keyExposureRow>

const hourMinutes = 60
const dayMinutes = 24 * hourMinutes
const weekMinutes = 7 * dayMinutes

/** Shows the exposure of each key within an hour, a day and a week. */
export function Exposures({ keys }: { keys: readonly KeyExposure[] }) {
  const within = (minutes: number) => (row: KeyExposure) => {
    const { usdMicros } = exposureWithin(exposureFacts(row.exposure), minutes)
    return <Money amount={usdRoundedUp(usdMicros)} unit="USD" />
  }
  return (
    <Section title="The worst case">
      <p>
        If a key or an app got into the wrong hands now, this is the most that could leave with it
        before you are asked again. All of them share the limits: what one spends is no longer
        available to the others.
      </p>
      {keys.length === 0 ? (
        <Empty>No active key or app can pay.</Empty>
      ) : (
        <Table
          caption="The most that each key and app can move by itself"
          rows={keys}
          columns={[
            { label: 'Key or app', cell: ({ label, shown }) => `${label} (${shown})` },
            { label: 'In an hour', cell: within(hourMinutes), isNumber: true },
            { label: 'In a day', cell: within(dayMinutes), isNumber: true },
            { label: 'In a week', cell: within(weekMinutes), isNumber: true },
          ]}
        />
      )}
      <p class="hint">
        Calculated from the limits, what was spent, what is signed and still open, and what you
        approved that is not paid yet. The wallet may hold less.
      </p>
    </Section>
  )
}
