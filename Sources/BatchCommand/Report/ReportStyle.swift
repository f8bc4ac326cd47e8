/// How a report looks: on light and dark screens of any width, and on paper.
enum ReportStyle {
  static let text = """
    :root{--ink:#1d2430;--soft:#5b6573;--ground:#fff;--card:#f6f7fa;--rule:#dfe3ea;--ok:#1b7f4b;--warn:#a15c00;--bad:#b3261e;\
    --busy:#2f6fd0;--a:#2f6fd0;--b:#7a4fb5;--c:#0f8a83;--before:#9aa5b5}
    @media (prefers-color-scheme:dark){:root{--ink:#e8ebf0;--soft:#a3adbb;--ground:#16181d;--card:#1e2229;--rule:#333943;--ok:#5fd39a;\
    --warn:#f0b35a;--bad:#ff8a80;--busy:#7fb0ff;--a:#7fb0ff;--b:#c3a1f5;--c:#5fd0c8;--before:#6b7585}}
    *{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,sans-serif;\
    -webkit-text-size-adjust:100%;overflow-wrap:anywhere}
    main{max-width:860px;margin:0 auto;padding:20px 16px 40px}h1{font-size:22px;line-height:1.3;margin:4px 0 8px}\
    h2{font-size:16px;margin:32px 0 10px;padding-bottom:4px;border-bottom:1px solid var(--rule)}p{margin:6px 0}ul{margin:6px 0;padding-left:20px}
    header{border-left:5px solid var(--tone);background:var(--card);border-radius:6px;padding:14px 18px;margin-bottom:14px;--tone:var(--bad)}
    .done{--tone:var(--ok)}.done-with-rejects,.stopped,.cut-over,.paused,.rolled-back{--tone:var(--warn)}.running{--tone:var(--busy)}
    .badge{margin:0;color:var(--tone);font-weight:700;text-transform:uppercase;letter-spacing:.06em;font-size:13px}\
    .reason{font-family:ui-monospace,monospace;font-size:13px}.advice{color:var(--soft)}
    pre{font-family:ui-monospace,monospace;font-size:13px;white-space:pre-wrap;background:var(--card);border-radius:6px;padding:10px 14px;margin:6px 0}
    .bar{height:8px;border-radius:4px;background:var(--rule);overflow:hidden;margin:8px 0}.bar i{display:block;height:100%;background:var(--tone)}
    dl{margin:0}dl div{display:grid;grid-template-columns:minmax(90px,150px) minmax(0,1fr);gap:12px;padding:3px 0}dt{color:var(--soft)}dd{margin:0}
    table{border-collapse:collapse;width:100%}th,td{padding:6px 0 6px 12px;border-bottom:1px solid var(--rule);text-align:right;\
    vertical-align:top;font-variant-numeric:tabular-nums}th:first-child{text-align:left;padding-left:0;width:40%}thead th{color:var(--soft);font-weight:400;\
    font-size:13px}tbody th{font-weight:600}td{white-space:nowrap}td span{display:inline-block;min-width:104px}td span+span{font-weight:600}
    .size{height:4px;margin-top:3px}.size i{display:block;height:100%;border-radius:2px;min-width:1px}.before i,i.before{background:var(--before)}\
    .after i,i.after{background:var(--a)}.key{display:inline-block;width:16px;height:6px;border-radius:2px;vertical-align:middle}\
    .small,footer{color:var(--soft);font-size:13px}footer{margin-top:36px}
    svg{display:block}.path{max-width:100%;height:auto}figure{margin:0 0 12px}figcaption{display:flex;justify-content:space-between;gap:12px;\
    font-weight:600;font-size:14px;margin-bottom:4px}figcaption span{color:var(--soft);font-weight:400;text-align:right}
    .chart{width:100%;height:104px}.strip{width:100%;height:22px}.chart path,.strip path{vector-effect:non-scaling-stroke;fill:none}
    .ground{stroke:var(--rule)}.trace{stroke:currentColor;stroke-width:1.5}.chart .area{fill:currentColor;opacity:.14}\
    .rows{color:var(--a)}.bytes{color:var(--b)}.memory{color:var(--c)}.limit{stroke:var(--soft);stroke-dasharray:5 4}\
    .cut{stroke:var(--bad);stroke-width:2}.mark{stroke:var(--soft)}
    .p-rows{fill:var(--a);background:var(--a)}.p-changes{fill:var(--b);background:var(--b)}.p-indexes{fill:var(--warn);background:var(--warn)}\
    .p-proof{fill:var(--ok);background:var(--ok)}.p-waiting{fill:var(--before);background:var(--before)}.k-mark{background:var(--soft)}\
    .k-cut{background:var(--bad)}
    .axis{display:flex;justify-content:space-between;color:var(--soft);font-size:13px;margin-top:-8px}.legend{display:flex;flex-wrap:wrap;\
    gap:4px 16px;font-size:13px;margin-top:8px}.legend i{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:6px;\
    vertical-align:-2px}.legend .k-mark,.legend .k-cut{width:2px;margin:0 11px 0 5px}
    @media (max-width:560px){td span{display:block;min-width:0}\
    td{font-size:14px;padding-left:8px}th:first-child{width:34%}dl div{grid-template-columns:104px minmax(0,1fr)}h1{font-size:19px}}
    @media print{:root{--ink:#000;--soft:#444;--ground:#fff;--card:#fff;--rule:#bbb}body{font-size:11pt}section,figure,tr{break-inside:avoid}\
    *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
    """
}
