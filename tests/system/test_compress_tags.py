"""Tags, Vary and digests of coded answers (bug cases B12, B24, B73): RFC 9110 §8.8.1, §8.8.3.3, §12.5.5."""

import unittest

from compressing import ALL, FRESH, JSON, CompressTest, article
from harness import response, validating


class Tags(CompressTest):
    """B73"""

    FORMS = ('"v1"', 'W/"v1"', '"x", "v1"', 'W/"x", W/"v1"', "*")

    def test_either_form_validates_on_either(self):
        body = article(5000)
        path = self.serving(body, {**FRESH, "ETag": '"v1"'})
        for warm in (False, True):
            for coding in (*ALL, None):
                for held in self.FORMS:
                    with self.subTest(warm=warm, coding=coding, held=held):
                        got = self.get(path, {"If-None-Match": held, **({"Accept-Encoding": coding} if coding else {})})
                        self.assertEqual(got.status, 304)
                        self.assertEqual(got["ETag"], 'W/"v1"' if coding else '"v1"')
                        self.assertEqual(got["Vary"], "Accept-Encoding")
                        self.assertIsNone(got["Content-Encoding"])
            for coding in ALL:
                self.coded(path, coding)
        for held in ('"v2"', 'W/"v2"', '"v1-gzip"', '"v1;gzip"', 'W/"v1-br"'):     # B24: nobody else's tag is ours
            self.assertEqual(self.coded(path, "gzip", {"If-None-Match": held}).status, 200)

    def test_every_way_to_a_304(self):
        """On the miss itself, past the cache, and after a validation."""
        body = article(5000)
        for fields in ({**FRESH, "ETag": '"v1"'}, {**JSON, "ETag": '"v1"', "Cache-Control": "no-store"},
                       {**JSON, "ETag": '"v1"'}):
            for coding in ("gzip", None):
                for held in ('"v1"', 'W/"v1"'):
                    with self.subTest(fields=fields, coding=coding, held=held):
                        path = self.serving(body, fields)
                        got = self.get(path, {"If-None-Match": held, **({"Accept-Encoding": coding} if coding else {})})
                        self.assertEqual(got.status, 304)
                        self.assertEqual(got["ETag"], 'W/"v1"' if coding else '"v1"')
                        self.assertEqual(got["Vary"], "Accept-Encoding")

    def test_a_304_of_the_origin_to_the_client(self):
        """The client's own condition goes on; the answer names the form that the client holds."""
        path = self.path()
        self.origin.on(path, lambda e: e.answer(304, {"ETag": '"v1"'}))
        for held in ('"v1"', 'W/"v1"'):
            got = self.coded(path, "gzip", {"Host": "pass.test", "If-None-Match": held})
            self.assertEqual((got.status, got["ETag"]), (304, held))

    def test_forms_outlive_a_validation(self):
        """Ask every time: the body is coded once for all the 304s."""
        body = article(50_000)
        path = self.path()
        self.origin.on(path, validating('"v1"', body, {**JSON, "Cache-Control": "max-age=0", "Vary": "Accept-Encoding"}))
        before = self.etagere.metric("etagere_compression_encoded_bytes_total", route="all")
        for _ in range(5):
            for coding in ALL:
                self.assert_coded(self.coded(path, coding), coding, body)
        self.assertEqual(self.origin.asked(path), ["full"] + 14 * ["conditional"])
        self.assertEqual([r["If-None-Match"] for r in self.origin.seen(path)[1:]], 14 * ['"v1"'])
        self.etagere.access(path, 15)
        self.assertEqual(self.etagere.metric("etagere_compression_encoded_bytes_total", route="all") - before, 3 * len(body))

    def test_new_bytes_get_new_forms(self):
        path = self.path()
        old, new = article(50_000, 1), article(50_000, 2)
        self.origin.on(path, [response(200, {**JSON, "ETag": '"1"', "Cache-Control": "max-age=0"}, old),
                              response(200, {**FRESH, "ETag": '"2"'}, new)])
        self.assert_coded(self.coded(path, "gzip"), "gzip", old)
        for _ in range(2):
            got = self.coded(path, "gzip")
            self.assert_coded(got, "gzip", new)
            self.assertEqual(got["ETag"], 'W/"2"')

    def test_a_304_forbids_from_then_on(self):
        body = article(5000)
        path = self.path()
        self.origin.on(path, [response(200, {**JSON, "ETag": '"1"', "Cache-Control": "max-age=0"}, body),
                              response(304, {"ETag": '"1"', "Cache-Control": "max-age=60, no-transform"})])
        self.assert_coded(self.coded(path, "gzip"), "gzip", body)
        for _ in range(2):
            got = self.coded(path, "gzip")
            self.assertEqual((got["Content-Encoding"], got["ETag"], got.body), (None, '"1"', body))

    def test_a_304_does_not_relabel(self):
        """B12"""
        body = article(5000)
        path = self.path()
        self.origin.on(path, [response(200, {**JSON, "ETag": '"foo"', "Cache-Control": "max-age=0"}, body),
                              response(304, {"ETag": 'W/"foo"', "Content-Encoding": "gzip", "Cache-Control": "max-age=60"})])
        self.get(path)
        for _ in range(2):
            self.assert_coded(self.get(path), None, body)
            self.assert_coded(self.coded(path, "gzip"), "gzip", body)

    def test_background_refresh_asks_for_identity(self):
        body = article(5000)
        path = self.path()
        self.origin.on(path, validating('"v1"', body, {**JSON, "Cache-Control": "max-age=0, stale-while-revalidate=60"}))
        for _ in range(2):
            self.assert_coded(self.coded(path, "gzip", {"Host": "swr.test"}), "gzip", body)
        self.origin.wait_hits(path, 2)
        self.assertEqual({r["Accept-Encoding"] for r in self.origin.seen(path)}, {"identity"})

    def test_our_own_tags(self):
        body = article(5000)
        for host, weak in (("shop.test", True), ("strong.test", False)):
            for fields in (FRESH, JSON):
                with self.subTest(host=host, fields=fields):
                    path = self.serving(body, fields)
                    plain = self.get(path, {"Host": host})["ETag"]
                    packed = self.coded(path, "gzip", {"Host": host})["ETag"]
                    self.assertEqual(packed, plain if weak else "W/" + plain)
                    for held in (plain, packed):
                        self.assertEqual(self.coded(path, "gzip", {"Host": host, "If-None-Match": held}).status, 304)
                        self.assertEqual(self.get(path, {"Host": host, "If-None-Match": held}).status, 304)

    def test_conditions_of_bytes_get_identity(self):
        """RFC 9110 §13.1.1 compares strongly, and ranges count the bytes of the representation."""
        body = article(5000)
        path = self.serving(body, {**FRESH, "ETag": '"v1"', "Accept-Ranges": "bytes"})
        self.coded(path, "gzip")
        got = self.coded(path, "gzip", {"If-Match": '"v1"'})
        self.assertEqual((got.status, got["Content-Encoding"], got["ETag"], got.body), (200, None, '"v1"', body))
        self.assertEqual(self.coded(path, "gzip", {"If-Match": 'W/"v1"'}).status, 412)
        got = self.coded(path, "gzip", {"Range": "bytes=0-9"})
        self.assertIsNone(got["Content-Encoding"])
        self.assertIn(got.body, (body, body[:10]))

    def test_vary_is_merged(self):
        body = article(5000)
        for vary, wanted in (("Accept", "Accept, Accept-Encoding"), ("accept-encoding", "accept-encoding"), ("*", "*")):
            path = self.serving(body, {**FRESH, "Vary": vary})
            for coding in ("gzip", None, "gzip"):
                got = self.coded(path, coding) if coding else self.get(path)
                self.assertEqual((got["Content-Encoding"], got.fields.all("Vary")), (coding, [wanted]))

    def test_digests_of_other_bytes_go(self):
        body = article(5000)
        digests = {"Content-MD5": "x", "Digest": "md5=x", "Content-Digest": "sha-256=:x:", "Repr-Digest": "sha-256=:x:"}
        path = self.serving(body, {**FRESH, **digests})
        for _ in range(2):
            got, plain = self.coded(path, "gzip"), self.get(path)
            for name, value in digests.items():
                self.assertEqual((got[name], plain[name]), (None, value))


if __name__ == "__main__":
    unittest.main()
