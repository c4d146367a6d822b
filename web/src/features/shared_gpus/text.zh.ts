import type { sharedGpusEn } from './text.en'

export const sharedGpusZh: Record<keyof typeof sharedGpusEn, string> = {
  'sharedgpus.title': 'GPU 共享',
  'sharedgpus.intro': '多个作业的程序轮流使用的 GPU：各自的显存哪些一直保留，哪些只在轮到时占用，以及轮换的代价。',
  'sharedgpus.gpus': 'GPU 列表',
  'sharedgpus.show': '显示',
  'sharedgpus.show.all': '全部',
  'sharedgpus.show.shared': '有多个程序的',
  'sharedgpus.show.refused': '有程序放不下的',
  'sharedgpus.taken': '已占用',
  'sharedgpus.gap': '间隔',
  'sharedgpus.programs': '程序及其显存',
  'sharedgpus.programs.none': '没有您可查看的程序占用这些 GPU 的显存。',
  'sharedgpus.none': '没有计算中心具有由作业轮流共享的 GPU',
  'sharedgpus.none.text': '当代理配置文件中的单元类型设有 sharing = "time-slice" 时，计算中心即轮流共享 GPU。',
  'sharedgpus.none.units': '前往计算单元类型',
}
