import { Button } from '@mantine/core'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { useCenters } from '../../../queries/centers'
import { Page, Section } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { CentersTable } from '../centers_table'
import { EnrolDialog } from './enrol_dialog'
import { EnrolmentTokens } from './enrolment_tokens'

export function CentersPage() {
  const t = useText()
  const { may } = useSession()
  const query = useCenters()
  const [filters, change] = useFilters(['enrol'])
  const mayEnrol = may('manage_network')
  const enrol = <Button variant="filled" onClick={() => change({ enrol: 'new' })}>{t('centers.enrol')}</Button>
  return (
    <Page title={t('centers.title')} actions={mayEnrol ? enrol : null}>
      <Ready query={query}>
        <CentersTable centers={query.data ?? []} empty={<EmptyState title={t('centers.none')} action={mayEnrol ? enrol : undefined} />} />
      </Ready>
      {mayEnrol ? <div style={{ marginTop: 24 }}><Section title={t('centers.tokens')}><EnrolmentTokens /></Section></div> : null}
      {mayEnrol && filters.enrol ? <EnrolDialog onClose={() => change({ enrol: '' })} /> : null}
    </Page>
  )
}
