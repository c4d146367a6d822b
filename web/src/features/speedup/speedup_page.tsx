import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { useSpeedup } from '../../queries/speedup'
import { Page, Section } from '../../ui/page'
import { ErrorState, Ready } from '../../ui/states'
import measuring from '../measuring/measuring.module.css'
import { Answer } from './speedup_answer'
import { SpeedupAccuracy } from './speedup_accuracy'
import { SpeedupCurves } from './speedup_curves'
import { SpeedupForm } from './speedup_form'
import { SpeedupPresets } from './speedup_presets'
import { fieldNames, type Fields, fieldsOf, toQuestion } from './question'

/** CPU or GPU? The numbers stand in the address, so that an answer can be shown to others. */
export function SpeedupPage() {
  const t = useText()
  const [raw, change] = useFilters(fieldNames)
  const [fields, setFields] = useState<Fields>(() => fieldsOf(raw))
  const { wrong } = toQuestion(fields)
  const [settled] = useDebouncedValue(fields, 300)
  const question = useMemo(() => toQuestion(settled).question, [settled])
  const query = useSpeedup(question)
  const set = (next: Fields) => {
    setFields(next)
    change(next)
  }
  return (
    <Page title={t('speedup.title')}>
      <p className={measuring.note}>{t('speedup.intro')}</p>
      <Section title={t('speedup.form')}>
        <SpeedupForm fields={fields} wrong={wrong} onChange={(part) => set({ ...fields, ...part })} />
      </Section>
      {question === null ? <p role="status" className={measuring.warn}>{t('speedup.wait')}</p>
        : query.isError && !query.data ? <ErrorState error={query.error} retry={() => void query.refetch()} />
          : query.isError ? <ErrorState error={query.error} /> : <Ready query={query}>{query.data ? <Answer answer={query.data} /> : null}</Ready>}
      {question && !query.isError ? <SpeedupCurves question={question} /> : null}
      <SpeedupPresets onTake={(next) => {
        set(next)
        window.scrollTo(0, 0)
      }} />
      <SpeedupAccuracy center={fields.center} />
    </Page>
  )
}
