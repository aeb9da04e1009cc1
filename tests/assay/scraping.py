"""What Prometheus would get."""

from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families


class Scraped(dict):
    """The samples of a scrape: of each name the value by the labels, in the order of names."""

    def __init__(self, url: str) -> None:
        with urlopen(url, timeout=20) as answer:
            text = answer.read().decode()
        self.kinds = {}
        for family in text_string_to_metric_families(text):
            self.kinds[family.name] = family.type
            for one in family.samples:
                key = tuple(value for _, value in sorted(one.labels.items()))
                self.setdefault(one.name, {})[key] = one.value

    def groups(self) -> set[str]:
        return {key[0] for name, of in self.items() if "_group_" in name for key in of}
