import { Button, NativeSelect } from '@mantine/core'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { useCenters } from '../../../queries/centers'
import { CutMark } from '../../../ui/cut_list'
import { TextFilter } from '../../../ui/forms/text_filter'
import { Page, Section } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { CentersTable } from '../centers_table'
import { healths } from '../health'
import { EnrolDialog } from './enrol_dialog'
import { EnrolmentTokens } from './enrolment_tokens'
import { filterCenters, parseCenterFilters } from './filters'

export function CentersPage() {
  const t = useText()
  const { may } = useSession()
  const query = useCenters()
  const [raw, change] = useFilters(['enrol', 'name', 'health'])
  const filters = parseCenterFilters(raw)
  const all = query.data ?? []
  const mayEnrol = may('manage_network')
  const enrol = <Button variant="filled" onClick={() => change({ enrol: 'new' })}>{t('centers.enrol')}</Button>
  return (
    <Page title={t('centers.title')} actions={mayEnrol ? enrol : null}>
      <Ready query={query}>
        <CutMark list={query} name={t('centers.title')} />
        <CentersTable centers={filterCenters(all, filters)}
          tools={
            <>
              <TextFilter label={t('centers.name')} value={filters.name} onChange={(name) => change({ name })} />
              <NativeSelect label={t('centers.state')} value={filters.health} onChange={(e) => change({ health: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, ...healths.map((health) => ({ value: health, label: t(`centers.state.${health}`) }))]} />
            </>
          }
          empty={all.length > 0
            ? <EmptyState title={t('centers.none.filter')} action={<Button onClick={() => change({ name: '', health: '' })}>{t('centers.none.clear')}</Button>} />
            : <EmptyState title={t('centers.none')} action={mayEnrol ? enrol : undefined} />} />
      </Ready>
      {mayEnrol ? <div style={{ marginTop: 24 }}><Section title={t('centers.tokens')}><EnrolmentTokens /></Section></div> : null}
      {mayEnrol && raw.enrol ? <EnrolDialog onClose={() => change({ enrol: '' })} /> : null}
    </Page>
  )
}
