import type { jobTypesEn } from './text.en'

export const jobTypesZh: Record<keyof typeof jobTypesEn, string> = {
  'jobtypes.title': '作业类型',
  'jobtypes.intro': '某类型的作业执行哪些算子，取自最近一个声明了算子或被剖析的作业。未声明算子的作业据此预测。',
  'jobtypes.none': '尚未学到任何类型',
  'jobtypes.none.hint': '从声明了算子的作业，或运行时被剖析的作业中学习其类型。',
  'jobtypes.origin': '识别方式',
  'jobtypes.origin.user': '作业声明的类型',
  'jobtypes.origin.mix': '算子构成',
  'jobtypes.origin.application': '应用程序',
  'jobtypes.mix': '工作构成',
  'jobtypes.part': '算子与规模级别',
  'jobtypes.share': '工作占比',
  'jobtypes.operators': '整个作业的算子',
  'jobtypes.count': '算子数',
  'jobtypes.profiled': '运行时计数',
  'jobtypes.from': '学习自',
  'jobtypes.at': '学习时间',
  'jobtypes.task': '探针任务',
}
