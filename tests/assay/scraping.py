"""Metrics as Prometheus scrapes them."""

from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families


class Scraped(dict):
    """The samples of a scrape: {name: {label values in the order of label names: value}}."""

    def __init__(self, url: str) -> None:
        with urlopen(url, timeout=20) as answer:
            text = answer.read().decode()
        self.kinds = {}
        for family in text_string_to_metric_families(text):
            self.kinds[family.name] = family.type
            for sample in family.samples:
                key = tuple(value for _, value in sorted(sample.labels.items()))
                self.setdefault(sample.name, {})[key] = sample.value

    def groups(self) -> set[str]:
        return {key[0] for name, values in self.items() if "_group_" in name for key in values}
